import type { Log } from "../src/log.js";

export const silentLog: Log = { info() {}, warn() {}, error() {} };

/** A log, the messages that were logged so far, and the messages of the errors in them. */
export function recordLog(): {
  readonly log: Log;
  readonly logged: readonly string[];
  readonly causes: readonly string[];
} {
  const logged: string[] = [];
  const causes: string[] = [];
  function record({ error }: { readonly error?: unknown }, message: string): void {
    logged.push(message);
    if (error instanceof Error) causes.push(error.message);
  }
  return { log: { info: record, warn: record, error: record }, logged, causes };
}
