import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Core, SheddingConfig } from "@petstore/core";

/** The event loop is late, or too many requests wait for a database connection. */
export type OverloadReason = "event-loop" | "database";

/** A timer measures the load, so that a request only reads the result. */
export interface Overload extends Disposable {
  /** `undefined` while requests are served in time. */
  readonly reason: OverloadReason | undefined;
}

const checkIntervalMs = 100;
/** One second, so that one garbage collection or one large response does not count as overload. */
const checksPerWindow = 10;
const resolutionMs = 50;

export function watchOverload(
  core: Pick<Core, "stats">,
  { eventLoopDelayMs, databaseQueue }: SheddingConfig,
): Overload {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  let isLoopLate = false;
  let checks = 0;

  function check(): void {
    const isQueueLong = databaseQueue > 0 && core.stats().database.waiting > databaseQueue;
    checks += 1;
    if (checks % checksPerWindow === 0 && eventLoopDelayMs > 0) {
      // The histogram holds the time between two ticks. Without delay this is the resolution.
      isLoopLate = delays.percentile(50) / 1e6 - resolutionMs > eventLoopDelayMs;
      delays.reset();
    }
    if (isLoopLate) overload.reason = "event-loop";
    else overload.reason = isQueueLong ? "database" : undefined;
  }

  if (eventLoopDelayMs > 0) delays.enable();
  const timer = setInterval(check, checkIntervalMs).unref();
  const overload = {
    reason: undefined as OverloadReason | undefined,
    [Symbol.dispose]() {
      clearInterval(timer);
      delays.disable();
    },
  };
  return overload;
}
