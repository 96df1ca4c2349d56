import type { LogLevel } from "@petstore/core";
import type { RequestHandler } from "express";
import { type DestinationStream, type Logger, pino } from "pino";
import { exchangeOf } from "./exchange.js";

/** A log that is being written; disposing writes what is still held back. */
export interface OpenLog extends Disposable {
  readonly log: Logger;
}

/**
 * JSON lines on standard output, written in batches, at most a second late. A fault that nothing caught is logged like
 * any other before it ends the process, where Node would print its stack.
 */
export function openLog(level: LogLevel): OpenLog {
  const destination = pino.destination({ dest: 1, sync: false, minLength: 4_096, periodicFlush: 1_000 });
  const log = createLog(level, destination);
  process.once("uncaughtException", (error) => {
    log.fatal({ error }, "uncaught exception");
    destination.flushSync();
    process.exit(1);
  });
  return {
    log,
    [Symbol.dispose]: () => destination.flushSync(),
  };
}

/** Whatever a line says, key material and file paths are struck out as it is written. */
export function createLog(level: LogLevel, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describeError },
      hooks: { streamWrite: strikeOutKeys },
    },
    destination,
  );
}

/** One line for every request, when its answer has been sent or its client has gone. */
export function logRequests(log: Logger, now: () => number): RequestHandler {
  return (req, res, next) => {
    res.on("close", () => {
      const { id, route, startedAtMs, key, problem } = exchangeOf(res);
      log.info({
        requestId: id,
        method: req.method,
        route,
        status: res.statusCode,
        durationMs: now() - startedAtMs,
        account: key && `${key.accountId}`,
        key: key && `${key.id}`,
        code: problem,
        aborted: res.writableFinished ? undefined : true,
      });
    });
    next();
  };
}

/** Name, code and message of an error and of what caused it. The stack stays out: it shows paths and source. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { name: typeof error };
  const code = "code" in error ? error.code : undefined;
  const cause = error.cause === undefined ? undefined : describeError(error.cause);
  return { name: error.name, code, message: strikeOutPaths(error.message), cause };
}

function strikeOutPaths(message: string): string {
  return message.replace(/file:\/\/\S+|(?<![\w:/])(\/[\w.@+-]+){2,}|[A-Za-z]:\\[^\s'"]+/g, "[path]");
}

function strikeOutKeys(line: string): string {
  return line.includes("pets_") ? line.replace(/pets_(live|test)_\w+/g, "pets_$1_[redacted]") : line;
}
