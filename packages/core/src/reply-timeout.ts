/**
 * Like `setTimeout`, but the replies that have arrived by then are read before `callback` runs. Node runs timers, then reads
 * sockets, then runs immediates. A busy process alone never makes a reply late. Once `ms` have passed, `clearTimeout` no
 * longer prevents the call.
 */
export function setReplyTimeout(callback: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(() => setImmediate(callback), ms);
}
