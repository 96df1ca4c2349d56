/** Publishes calls to PostgreSQL and Redis for traces and metrics. */
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
