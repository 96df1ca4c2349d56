import type { LogFn } from "pino";

export interface RepeatedFaults extends Disposable {
  /** Writes a warning or an error, or counts it when the same fault was written lately. */
  write(line: readonly unknown[], method: LogFn): void;
}

const intervalMs = 10_000;
/** Faults of further kinds are logged each time. */
const maxKinds = 100;

interface Fault {
  readonly fields: object;
  readonly method: LogFn;
  /** Since the last line about it. */
  repeated: number;
  total: number;
}

/**
 * An unavailable dependency fails every request with the same fault. The first one is logged as it is, and the following
 * ones are counted. The count is logged at intervals, and the total after an interval without the fault.
 */
export function createRepeatedFaults(): RepeatedFaults {
  const faults = new Map<string, Fault>();
  const timer = setInterval(summarize, intervalMs).unref();

  function summarize(): void {
    for (const [kind, fault] of faults) {
      const { fields, method, repeated, total } = fault;
      if (repeated > 0) method({ ...fields, repeated }, "the same fault again");
      else if (total > 0) method({ ...fields, repeatedInAll: total }, "the fault has not come again");
      if (repeated === 0) faults.delete(kind);
      fault.repeated = 0;
    }
  }

  return {
    write(line, method) {
      const fault = faultOf(line);
      const known = fault && faults.get(fault.kind);
      if (known !== undefined) {
        known.repeated += 1;
        known.total += 1;
        return;
      }
      method(...(line as Parameters<LogFn>));
      if (fault === undefined || faults.size >= maxKinds) return;
      faults.set(fault.kind, { fields: fault.fields, method, repeated: 0, total: 0 });
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      summarize();
    },
  };
}

/**
 * Lines are the same fault when their text and their kinds of error are the same. The error's message may differ, because
 * it can name a port or a value. An unexpected error has no kind: an operator searches for each by its request id.
 */
function faultOf([fields, message]: readonly unknown[]):
  | { readonly kind: string; readonly fields: object }
  | undefined {
  if (typeof fields !== "object" || fields === null || !("error" in fields)) return undefined;
  const { error } = fields;
  const code = "code" in fields ? fields.code : undefined;
  if (code === "INTERNAL_ERROR") return undefined;
  const kinds: unknown[] = [message, code];
  for (let cause: unknown = error; cause instanceof Error && kinds.length < 10; cause = cause.cause) {
    kinds.push(cause.name, "code" in cause ? cause.code : undefined);
  }
  return { kind: kinds.join(" "), fields: { code, error, fault: message } };
}

/** Name, code and message of an error and of its causes. The stack stays out: it shows paths and source. */
export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { name: typeof error };
  const code = "code" in error ? error.code : undefined;
  const cause = error.cause === undefined ? undefined : describeError(error.cause);
  return { name: error.name, code, message: escapeControls(redactPaths(error.message)), cause };
}

/** pino escapes the characters that JSON requires. A terminal also obeys the other control and format characters. */
function escapeControls(message: string): string {
  return message.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
}

function redactPaths(message: string): string {
  return message.replace(/file:\/\/\S+|(?<![\w:/])(\/[\w.@+-]+){2,}|[A-Za-z]:\\[^\s'"]+/g, "[path]");
}
