/** Writes the lines of the log, without API keys and file paths. */
import type { LogLevel } from "@petstore/core";
import { type DestinationStream, type Logger, pino } from "pino";
import { type CompletedRequest, clientClosedRequest } from "./completed-request.js";

/** Removes API keys from every line, and file paths from the messages in `error`. Every line has the fields of `base`. */
export function createLog(level: LogLevel, destination: DestinationStream, base: object = {}): Logger {
  return pino(
    {
      level,
      base,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describeError },
      hooks: { streamWrite: redactKeys },
    },
    destination,
  );
}

/** An error can be its own cause. */
const maxCauses = 5;

/** Omits the stack, which shows paths and source. */
function describeError(error: unknown, causesLeft: number = maxCauses): unknown {
  if (!(error instanceof Error)) return { name: typeof error };
  const code = "code" in error ? error.code : undefined;
  const isLast = error.cause === undefined || causesLeft === 0;
  const cause = isLast ? undefined : describeError(error.cause, causesLeft - 1);
  return { name: error.name, code, message: escapeControls(redactPaths(error.message)), cause };
}

/** pino escapes only the characters that JSON forbids in a string. A terminal obeys more control and format characters. */
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

/** The fields of the line about a request. */
export function logFields(request: CompletedRequest): object {
  const { operation, key } = request;
  return {
    requestId: request.id,
    traceId: request.traceId,
    clientAddress: request.clientAddress,
    method: request.method,
    route: request.route,
    status: request.status ?? clientClosedRequest,
    // Rounded to microseconds.
    durationMs: Math.round(request.durationMs * 1_000) / 1_000,
    operationType: operation?.type,
    operationName: operation?.name,
    cost: operation?.cost,
    account: key && `${key.accountId}`,
    key: key && `${key.id}`,
    code: request.problemCode,
    brownout: request.isBrownout || undefined,
    aborted: request.isAborted || undefined,
  };
}
