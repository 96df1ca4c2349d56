import type { LogLevel } from "@petstore/core";
import { type DestinationStream, type Logger, pino } from "pino";
import { createRepeatedFaults, describeError, type RepeatedFaults } from "./repeated-faults.js";
import { openStandardOutput } from "./standard-output.js";

export interface OpenLog extends AsyncDisposable {
  readonly log: Logger;
  /** Writes text for a person, on standard output like the log. */
  print(text: string): void;
  /** Lines that could not be written since the start. */
  droppedLines(): number;
}

/**
 * JSON lines on standard output. An uncaught exception is logged like any other error before it ends the process; Node
 * would print its stack. Disposing writes the buffered lines.
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
    droppedLines: output.dropped,
    async [Symbol.asyncDispose]() {
      repeatedFaults[Symbol.dispose]();
      await output.flush();
    },
  };
}

/** Removes API keys from every line, and file paths from the messages in `error`. Faults that repeat are counted. */
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
        streamWrite: redactKeys,
        logMethod(line, method, severity) {
          if (severity < warning) method.apply(this, line);
          else repeatedFaults.write(line, method.bind(this));
        },
      },
    },
    destination,
  );
}

const warning = pino.levels.values.warn ?? 0;

function redactKeys(line: string): string {
  return line.includes("pets_") ? line.replace(/pets_(live|test)_\w+/g, "pets_$1_[redacted]") : line;
}
