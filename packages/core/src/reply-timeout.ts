/**
 * Like `setTimeout`, but the replies that have arrived by then are read before `callback` runs. Node runs timers, then reads
 * sockets, then runs immediates. So a reply that has arrived is never late only because this process was busy. After `ms`,
 * `clearTimeout` no longer prevents the call: the callback must do no harm if it is not needed any more.
 */
export function setReplyTimeout(callback: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(() => setImmediate(callback), ms);
}
