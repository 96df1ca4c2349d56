/**
 * Like `setTimeout`, but before `callback` runs, Node reads all replies that have arrived: the event loop runs timers, then
 * reads sockets, then runs immediates. So a busy process misses no reply. After `ms`, `clearTimeout` no longer prevents the
 * call, so `callback` must do no harm after the reply.
 */
export function setReplyTimeout(callback: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(() => setImmediate(callback), ms);
}
