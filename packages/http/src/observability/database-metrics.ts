import { type DatabaseCall, databaseCalls } from "@petstore/core";
import { Histogram, type Registry } from "prom-client";

/** The context of a call is one object from its start to its end. */
type MeasuredCall = DatabaseCall & { startedAtMs?: number };

/**
 * Measures the calls to PostgreSQL and Redis, failed ones included, until the returned function is called. Name, labels and
 * buckets are those of OpenTelemetry's semantic conventions.
 */
export function measureDatabaseCalls(registry: Registry): () => void {
  const durations = new Histogram({
    name: "db_client_operation_duration_seconds",
    help: "From the call until its answer, with the time in the queue of the pool, by database and statement or script.",
    labelNames: ["db_system_name", "db_query_summary"],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
    registers: [registry],
  });
  const listeners = {
    start(call: MeasuredCall) {
      call.startedAtMs = performance.now();
    },
    end() {},
    asyncStart() {},
    asyncEnd({ system, name, startedAtMs }: MeasuredCall) {
      // The call may have begun before this subscription.
      if (startedAtMs === undefined) return;
      const labels = { db_system_name: system, db_query_summary: name };
      durations.observe(labels, (performance.now() - startedAtMs) / 1_000);
    },
    error() {},
  };
  databaseCalls.subscribe(listeners);
  return () => void databaseCalls.unsubscribe(listeners);
}
