/**
 * A dependency that is away fails every request in the same words. The first failure is logged as it is; those like it
 * are counted, the count is logged at intervals, and once more when an interval has passed without any.
 */
import type { LogFn } from "pino";

export interface RepeatedFaults extends Disposable {
  /** Writes the line, or counts it where the same has been written lately. */
  write(line: readonly unknown[], method: LogFn): void;
}

export interface RepeatedFaultsOptions {
  readonly intervalMs?: number;
  /** Different faults remembered at once; beyond it each is logged like a first one. */
  readonly capacity?: number;
}

interface Repetition {
  readonly fields: object;
  readonly write: (fields: object, message: string) => void;
  /** Since the last line. */
  count: number;
  total: number;
}

export function createRepeatedFaults({
  intervalMs = 10_000,
  capacity = 100,
}: RepeatedFaultsOptions = {}): RepeatedFaults {
  const repetitions = new Map<string, Repetition>();
  let timer: NodeJS.Timeout | undefined;

  function summarize(): void {
    for (const [key, repetition] of repetitions) {
      const { fields, write, count, total } = repetition;
      if (count > 0) write({ ...fields, repeated: count }, "the same fault again");
      else if (total > 0) write({ ...fields, repeatedInAll: total }, "the fault has not come again");
      if (count === 0) repetitions.delete(key);
      repetition.count = 0;
    }
    if (repetitions.size === 0) stop();
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    write(line, method) {
      const [fields, message] = line;
      const kind = kindOf(fields, message);
      const known = kind === undefined ? undefined : repetitions.get(kind.key);
      if (known !== undefined) {
        known.count += 1;
        known.total += 1;
        return;
      }
      const write = (these: object, text: string) => method(these, text);
      if (kind !== undefined && repetitions.size < capacity) {
        repetitions.set(kind.key, { fields: kind.fields, write, count: 0, total: 0 });
        timer ??= setInterval(summarize, intervalMs).unref();
      }
      method(...(line as Parameters<LogFn>));
    },
    [Symbol.dispose]() {
      stop();
      for (const { fields, write, count } of repetitions.values()) {
        if (count > 0) write({ ...fields, repeated: count }, "the same fault again");
      }
      repetitions.clear();
    },
  };
}

/**
 * What makes two lines the same: their words and the kind of error, not its message, which may name a port or a value.
 * An unexpected fault is no repetition: each is looked for by its request id.
 */
function kindOf(fields: unknown, message: unknown): { readonly key: string; readonly fields: object } | undefined {
  if (typeof fields !== "object" || fields === null || !("error" in fields)) return undefined;
  const code = "code" in fields ? fields.code : undefined;
  if (code === "INTERNAL_ERROR") return undefined;
  const { error } = fields;
  const kinds: unknown[] = [message, code];
  for (let cause: unknown = error; cause instanceof Error && kinds.length < 10; cause = cause.cause) {
    kinds.push(cause.name, "code" in cause ? cause.code : undefined);
  }
  return { key: kinds.join(" "), fields: { code, error, fault: message } };
}
