/** Publishes the steps of a request and the calls of its databases, for traces and metrics. */
import { type TracingChannel, tracingChannel } from "node:diagnostics_channel";

/** A step of a request, such as its authentication. */
export interface TracedCall {
  readonly name: string;
}

/** A statement that PostgreSQL runs, or a script that Redis runs. */
export interface DatabaseCall extends TracedCall {
  readonly system: "postgresql" | "redis";
}

/** Tracing subscribes to both channels, and metrics to `databaseCalls`. Without a subscriber, a call costs one check. */
export const tracedCalls: TracingChannel<unknown, TracedCall> = tracingChannel("petstore:call");
export const databaseCalls: TracingChannel<unknown, DatabaseCall> = tracingChannel("petstore:database-call");

export function traceCall<Result>(name: string, run: () => Result | Promise<Result>): Result | Promise<Result> {
  return tracedCalls.start.hasSubscribers ? tracedCalls.tracePromise(async () => run(), { name }) : run();
}

export function traceDatabaseCall<Result>(
  system: DatabaseCall["system"],
  name: string,
  run: () => Promise<Result>,
): Promise<Result> {
  return databaseCalls.start.hasSubscribers ? databaseCalls.tracePromise(run, { system, name }) : run();
}
