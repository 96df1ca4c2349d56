import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { LogConfig } from "@petstore/core";
import type { Logger } from "pino";
import { createLog } from "./log.js";
import { openStandardOutput, type StandardOutput } from "./standard-output.js";

export interface OpenLog extends AsyncDisposable, Pick<StandardOutput, "print" | "dropped"> {
  readonly log: Logger;
}

/**
 * Writes JSON lines, or lines for people, to standard output. Logs an uncaught exception without its stack, which Node would
 * print, and ends the process. Disposing writes the buffered lines.
 */
export function openLog({ level, isPretty = process.stdout.isTTY, serviceName }: LogConfig): OpenLog {
  const output = openStandardOutput();
  const destination = isPretty ? { write: (line: string) => output.print(prettyLine(line)) } : output;
  const log = createLog(level, destination, {
    service: serviceName,
    version: readVersion(),
    host: hostname(),
    pid: process.pid,
  });
  process.on("uncaughtException", (error) => {
    log.fatal({ error }, "uncaught exception");
    // The process may end before the flush.
    process.exitCode = 1;
    void output.flush().then(() => process.exit(1));
  });
  return { log, print: output.print, dropped: output.dropped, [Symbol.asyncDispose]: output.flush };
}

export function readVersion(): string {
  return JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version;
}

/** Fields that are the same in every line, or that have their own place in the line. */
const hidden = ["level", "time", "msg", "service", "version", "host", "pid", "durationMs", "requestId"];
/** As in "POST /graphql query ListPets 200" or "GET /v1/pets 401 API_KEY_MISSING". */
const ofRequest = ["method", "route", "operationType", "operationName", "status", "code"];

/** Written by hand: a transport of pino starts a worker thread, and pino-pretty has thirteen dependencies. */
export function prettyLine(json: string): string {
  const entry = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const sentence = entry.status === undefined ? ["msg"] : ofRequest;
  const others = Object.entries(entry).filter(([name]) => !hidden.includes(name) && !sentence.includes(name));
  const text = [
    // "14:03:22", in the time zone of this machine.
    new Date(Number(entry.time)).toTimeString().slice(0, 8),
    `${entry.level}`.toUpperCase().padEnd(5),
    ...sentence.map((name) => entry[name]),
    entry.durationMs !== undefined && `in ${entry.durationMs} ms`,
    ...others.map(([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : value}`),
    entry.requestId && `requestId=${entry.requestId}`,
  ];
  return `${text.filter(Boolean).join(" ")}\n`;
}
