import { type TracingChannel, tracingChannel } from "node:diagnostics_channel";

/** A step of a request, or a statement that PostgreSQL runs for it. */
export interface TracedCall {
  readonly name: string;
  readonly isStatement?: boolean;
}

/** The service subscribes to all its channels when traces are configured. Without a subscriber, a call costs one check. */
export const tracedCalls: TracingChannel<unknown, TracedCall> = tracingChannel<unknown, TracedCall>("petstore:call");

export function traceCall<Result>(call: TracedCall, run: () => Promise<Result>): Promise<Result>;
export function traceCall<Result>(call: TracedCall, run: () => Result | Promise<Result>): Result | Promise<Result>;
export function traceCall<Result>(call: TracedCall, run: () => Result | Promise<Result>): Result | Promise<Result> {
  return tracedCalls.start.hasSubscribers ? tracedCalls.tracePromise(async () => run(), call) : run();
}
