import type { LogLevel } from "@petstore/core";
import type { RequestHandler } from "express";
import { type DestinationStream, type Logger, pino } from "pino";
import { contextOf } from "../pipeline/request-context.js";
import type { MetricFamily } from "./metric-family.js";
import { createRepeatedFaults, type RepeatedFaults } from "./repeated-faults.js";
import type { RequestMeter } from "./request-meter.js";
import { openStandardOutput } from "./standard-output.js";

export interface OpenLog extends AsyncDisposable {
  readonly log: Logger;
  /** Writes text for a person, on standard output like the log. */
  print(text: string): void;
  readonly families: readonly MetricFamily[];
}

/**
 * JSON lines on standard output. An uncaught exception is logged like any other error before it ends the process, where
 * Node would print its stack. Disposing writes what is buffered.
 */
export function openLog(level: LogLevel): OpenLog {
  const output = openStandardOutput();
  const repeatedFaults = createRepeatedFaults();
  const log = createLog(level, output, repeatedFaults);
  process.on("uncaughtException", (error) => {
    log.fatal({ error }, "uncaught exception");
    void output.flush().then(() => process.exit(1));
  });
  return {
    log,
    print: output.print,
    families: [
      {
        name: "petstore_log_lines_dropped_total",
        help: "Lines dropped because standard output could not be written fast enough, or at all.",
        type: "counter",
        samples: () => [{ labels: {}, value: output.dropped() }],
      },
    ],
    async [Symbol.asyncDispose]() {
      repeatedFaults[Symbol.dispose]();
      await output.flush();
    },
  };
}

/** Whatever a line says, key material and file paths are struck out as it is written; faults that repeat are counted. */
export function createLog(
  level: LogLevel,
  destination: DestinationStream,
  repeatedFaults: RepeatedFaults = createRepeatedFaults(),
): Logger {
  return pino(
    {
      level,
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describeError },
      hooks: {
        streamWrite: strikeOutKeys,
        logMethod(line, method, severity) {
          if (severity < warning) method.apply(this, line);
          else repeatedFaults.write(line, method.bind(this));
        },
      },
    },
    destination,
  );
}

/** One line and one count for every request, when its answer has been sent or its client has gone. */
export function logRequests(log: Logger, meter: Pick<RequestMeter, "count">, now: () => number): RequestHandler {
  return (req, res, next) => {
    res.on("close", () => {
      const context = contextOf(res);
      const { id, traceId, clientAddress, route, startedAtMs, problem } = context;
      const key = context.key ?? context.rejectedKey;
      const durationMs = now() - startedAtMs;
      meter.count(context, req.method, res.headersSent ? res.statusCode : clientHasGone, durationMs);
      log.info({
        requestId: id,
        traceId,
        clientAddress,
        method: req.method,
        route,
        status: res.statusCode,
        durationMs,
        account: key && `${key.accountId}`,
        key: key && `${key.id}`,
        code: problem,
        aborted: res.writableFinished ? undefined : true,
      });
    });
    next();
  };
}

const warning = pino.levels.values.warn ?? 0;

/** nginx's status for it; none is sent. */
const clientHasGone = 499;

/** Name, code and message of an error and of what caused it. The stack stays out: it shows paths and source. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { name: typeof error };
  const code = "code" in error ? error.code : undefined;
  const cause = error.cause === undefined ? undefined : describeError(error.cause);
  return { name: error.name, code, message: plainText(strikeOutPaths(error.message)), cause };
}

/** pino escapes what JSON must. A terminal obeys the rest of the control characters, and shows format ones as if not there. */
function plainText(message: string): string {
  return message.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
}

function strikeOutPaths(message: string): string {
  return message.replace(/file:\/\/\S+|(?<![\w:/])(\/[\w.@+-]+){2,}|[A-Za-z]:\\[^\s'"]+/g, "[path]");
}

function strikeOutKeys(line: string): string {
  return line.includes("pets_") ? line.replace(/pets_(live|test)_\w+/g, "pets_$1_[redacted]") : line;
}
