/** Calls to PostgreSQL and Redis: published for traces and metrics, and limited in time. */
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
 * Like `setTimeout`, but before `callback` runs, Node reads all replies that have arrived: the event loop runs timers, then
 * reads sockets, then runs immediates. So a busy process misses no reply. After `ms`, `clearTimeout` no longer prevents the
 * call, so `callback` must do no harm after the reply.
 */
export function setReplyTimeout(callback: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(() => setImmediate(callback), ms);
}
