/**
 * `setTimeout` for deadlines of answers: what has arrived by then is read before the callback is run, for Node runs
 * timers, then reads sockets, then runs immediates. An answer that this process was only too busy to read is not late.
 */
export function timeoutAfterReading(callback: () => void, milliseconds: number): NodeJS.Timeout {
  return setTimeout(() => setImmediate(callback), milliseconds);
}
