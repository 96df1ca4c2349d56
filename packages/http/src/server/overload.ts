/**
 * Whether requests would only be late: a request more then makes every other one later as well. Looked at by a timer,
 * so that asking costs a request nothing.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Core, SheddingConfig } from "@petstore/core";

/** What there is too much of: work for the event loop, or waiting for a database connection. */
export type OverloadReason = "event-loop" | "database";

export interface Overload extends Disposable {
  /** `undefined` while requests are served in time. */
  reason(): OverloadReason | undefined;
}

export interface OverloadDeps {
  readonly core: Pick<Core, "stats">;
  readonly shedding: SheddingConfig;
}

const lookIntervalMs = 100;
/** A second: one collection of garbage, or one large answer, is not overload. */
const looksPerWindow = 10;
const resolutionMs = 50;

export function watchOverload({ core, shedding }: OverloadDeps): Overload {
  const { eventLoopDelayMs, databaseQueue } = shedding;
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  let isLoopLate = false;
  let isQueueLong = false;
  let looks = 0;

  function look(): void {
    isQueueLong = databaseQueue > 0 && core.stats().database.waiting > databaseQueue;
    looks += 1;
    if (looks % looksPerWindow !== 0 || eventLoopDelayMs === 0) return;
    // What is recorded is the distance of two ticks, which is the resolution where nothing is late.
    isLoopLate = delays.percentile(50) / 1e6 - resolutionMs > eventLoopDelayMs;
    delays.reset();
  }

  if (eventLoopDelayMs > 0) delays.enable();
  const timer = setInterval(look, lookIntervalMs).unref();
  return {
    reason() {
      if (isLoopLate) return "event-loop";
      return isQueueLong ? "database" : undefined;
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      delays.disable();
    },
  };
}
