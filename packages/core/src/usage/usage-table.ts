/** The statements that change the table of the usage history. */
import { sql } from "kysely";
import type { Database } from "../database/database.js";
import { type NamedSql, type Statement, statement } from "../database/statement.js";
import { createSweep, sweepStatement } from "../database/sweep.js";

/** A batch of counters, as columns. `hours` in ISO 8601. */
interface UsageBatch {
  /** Identifies the process. Its batches have ascending numbers. */
  readonly writer: string;
  readonly batch: number;
  readonly keyIds: readonly bigint[];
  readonly hours: readonly string[];
  readonly apis: readonly string[];
  readonly operations: readonly string[];
  readonly admitted: readonly number[];
  readonly refused: readonly number[];
}

/**
 * Adds the counters to the table, unless the writer has stored this batch already. A repeated statement waits for the first
 * one, which may still be running, on the row of the writer.
 *
 * All instances lock the rows in one order, so they cannot block each other. Keys that were deleted meanwhile are left out.
 */
export const addUsage: Statement<UsageBatch, unknown> = statement(
  "write",
  "add-usage",
  (_db, parameter) => sql`
    with fresh as (
      insert into usage_writers (id, batch, written_at) values (${parameter("writer")}, ${parameter("batch")}, now())
      on conflict (id) do update set batch = excluded.batch, written_at = excluded.written_at
      where usage_writers.batch < excluded.batch
      returning id
    )
    insert into usage_hours (key_id, hour, api, operation, admitted, refused)
    select counted.* from fresh, unnest(
      ${parameter("keyIds")}::bigint[], ${parameter("hours")}::timestamptz[], ${parameter("apis")}::text[],
      ${parameter("operations")}::text[], ${parameter("admitted")}::bigint[], ${parameter("refused")}::bigint[]
    ) as counted (key_id, hour, api, operation, admitted, refused)
    join api_keys on api_keys.id = counted.key_id
    order by 1, 2, 3, 4
    on conflict (key_id, hour, api, operation) do update
    set admitted = usage_hours.admitted + excluded.admitted, refused = usage_hours.refused + excluded.refused`,
);

/** Returns a function that deletes the hours and the writers that are older than the retention. */
export function createUsageSweep(database: Pick<Database, "run">, retentionDays: number): () => Promise<void> {
  const age = `${retentionDays * 24} hours`;
  const sweepHours = createSweep(database, deleteOldHours, age);
  const sweepWriters = createSweep(database, deleteOldWriters, age);
  return async () => {
    await sweepHours();
    await sweepWriters();
  };
}

const deleteOldHours = sweepStatement("delete-old-usage-hours", {
  table: "usage_hours",
  since: "hour",
  lockId: 7_302_030_514,
});

const deleteOldWriters = sweepStatement("delete-old-usage-writers", {
  table: "usage_writers",
  since: "written_at",
  lockId: 7_302_030_515,
});

export const usageStatements: readonly NamedSql[] = [addUsage, deleteOldHours, deleteOldWriters];
