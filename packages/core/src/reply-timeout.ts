/**
 * Like `setTimeout`, but the replies that have arrived by then are read before `callback` runs. Node runs timers, then reads
 * sockets, then runs immediates. So a reply is not late only because this process was busy. Once `ms` have passed,
 * `clearTimeout` no longer prevents the call.
 */
export function setReplyTimeout(callback: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(() => setImmediate(callback), ms);
}
