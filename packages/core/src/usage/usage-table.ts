/** The statements that change the table of the usage history. */
import { sql } from "kysely";
import type { Database } from "../database/database.js";
import { type NamedSql, type Statement, statement } from "../database/statement.js";

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

/**
 * Deletes the hours and the writers that are older than the retention. Each statement deletes a bounded number, so that it is
 * short, and skips the rows that another instance is deleting.
 */
export async function forgetUsage(database: Pick<Database, "run">, retentionDays: number): Promise<void> {
  for (const deleteOld of [deleteOldHours, deleteOldWriters]) {
    let deleted: unknown[];
    do {
      deleted = await database.run(deleteOld, { retentionDays });
    } while (deleted.length === forgottenAtOnce);
  }
}

const forgottenAtOnce = 1_000;

const deleteOldHours: Statement<{ retentionDays: number }, unknown> = statement(
  "write",
  "delete-old-usage-hours",
  (_db, parameter) => sql`
    delete from usage_hours where (key_id, hour, api, operation) in (
      select key_id, hour, api, operation from usage_hours
      where hour < now() - ${parameter("retentionDays")}::integer * interval '24 hours'
      limit ${sql.lit(forgottenAtOnce)} for update skip locked
    )
    returning hour`,
);

const deleteOldWriters: Statement<{ retentionDays: number }, unknown> = statement(
  "write",
  "delete-old-usage-writers",
  (_db, parameter) => sql`
    delete from usage_writers where id in (
      select id from usage_writers
      where written_at < now() - ${parameter("retentionDays")}::integer * interval '24 hours'
      limit ${sql.lit(forgottenAtOnce)} for update skip locked
    )
    returning id`,
);

export const usageStatements: readonly NamedSql[] = [addUsage, deleteOldHours, deleteOldWriters];
