/** Starts the timeout of a reply of Redis or PostgreSQL. */

/**
 * Calls `callback` after `ms`, but lets Node read the replies that have arrived first: the event loop runs timers, then reads
 * sockets, then runs immediates. A process that was busy at the deadline therefore misses no reply.
 *
 * `clearTimeout` cancels the timer, but not the immediate that follows it. `callback` must therefore do nothing if the reply has
 * arrived.
 */
export function setReplyTimeout(callback: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(() => setImmediate(callback), ms);
}
