/** Publishes calls to PostgreSQL and Redis for traces and metrics, and starts their reply timeouts. */
import { type TracingChannel, tracingChannel } from "node:diagnostics_channel";

/** A statement that PostgreSQL runs, or a script that Redis runs. */
export interface DatabaseCall {
  readonly system: "postgresql" | "redis";
  readonly name: string;
}

export const databaseCalls: TracingChannel<unknown, DatabaseCall> = tracingChannel("petstore:database-call");

export function traceDatabaseCall<Result>(
  system: DatabaseCall["system"],
  name: string,
  run: () => Promise<Result>,
): Promise<Result> {
  return databaseCalls.start.hasSubscribers ? databaseCalls.tracePromise(run, { system, name }) : run();
}

/**
 * Calls `callback` after `ms`, but first lets Node read the replies that have arrived: the event loop runs timers, then reads
 * sockets, then runs immediates. So a busy process misses no reply. `clearTimeout` cannot cancel the immediate, so
 * `callback` must do nothing if the reply has arrived.
 */
export function setReplyTimeout(callback: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(() => setImmediate(callback), ms);
}
