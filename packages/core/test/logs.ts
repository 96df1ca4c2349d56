import type { Log } from "../src/log.js";

export const silentLog: Log = { info() {}, warn() {}, error() {} };

/** A log, and the messages that were logged so far. */
export function recordLog(): { readonly log: Log; readonly logged: readonly string[] } {
  const logged: string[] = [];
  const record = (_fields: object, message: string) => void logged.push(message);
  return { log: { info: record, warn: record, error: record }, logged };
}
