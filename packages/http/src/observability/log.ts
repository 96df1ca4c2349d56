import type { LogLevel } from "@petstore/core";
import { type DestinationStream, type Logger, pino } from "pino";
import { openStandardOutput, type StandardOutput } from "./standard-output.js";

export interface OpenLog extends AsyncDisposable, Pick<StandardOutput, "print" | "dropped"> {
  readonly log: Logger;
}

/**
 * JSON lines on standard output. An uncaught exception is logged like any other error before it ends the process; Node
 * would print its stack. Disposing writes the buffered lines.
 */
export function openLog(level: LogLevel): OpenLog {
  const output = openStandardOutput();
  const log = createLog(level, output);
  process.on("uncaughtException", (error) => {
    log.fatal({ error }, "uncaught exception");
    void output.flush().then(() => process.exit(1));
  });
  return { log, print: output.print, dropped: output.dropped, [Symbol.asyncDispose]: output.flush };
}

/** Removes API keys from every line, and file paths from the messages in `error`. */
export function createLog(level: LogLevel, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describeError },
      hooks: { streamWrite: redactKeys },
    },
    destination,
  );
}

/** Name, code and message of an error and of its causes. The stack stays out: it shows paths and source. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { name: typeof error };
  const code = "code" in error ? error.code : undefined;
  const cause = error.cause === undefined ? undefined : describeError(error.cause);
  return { name: error.name, code, message: escapeControls(redactPaths(error.message)), cause };
}

/** pino escapes what a JSON string must not contain. A terminal also obeys the other control and format characters. */
function escapeControls(message: string): string {
  return message.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
}

function redactPaths(message: string): string {
  return message.replace(/file:\/\/\S+|(?<![\w:/])(\/[\w.@+-]+){2,}|[A-Za-z]:\\[^\s'"]+/g, "[path]");
}

function redactKeys(line: string): string {
  return line.includes("pets_") ? line.replace(/pets_(live|test)_\w+/g, "pets_$1_[redacted]") : line;
}
