/** Deletes old rows in the background, so that creates do not notice it: decisions/0042-sweep-by-age.md. */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Database } from "./database.js";
import { type Statement, statement } from "./statement.js";
import type { Tables } from "./tables.js";

/** A table whose rows are deleted by their age. */
interface SweptTable {
  readonly table: keyof Tables;
  /** The column with the time from which a row gets old. A large table has an index on it. */
  readonly since: string;
  /** An arbitrary number. It must not change: other versions may sweep at the same time. */
  readonly lockId: number;
}

interface Place {
  /** An interval in the words of PostgreSQL, such as `24 hours`. Older rows are deleted. */
  readonly age: string;
  /** Rows before this time have been deleted already. */
  readonly sweptTo: string;
}

interface Batch {
  readonly deleted: number;
  /** The place for the next batch. */
  readonly sweptTo: string;
}

/**
 * Deletes the oldest rows, at most 1,000. In the order of their age, they are neighbours in the table and in the index. They are
 * found again by `ctid`, because the primary key would lead to a thousand places of its own index.
 *
 * A batch begins where the last one has ended, because the index still leads to deleted rows until VACUUM removes them. While a
 * backup runs, VACUUM cannot, and every batch would read all of them.
 *
 * The lock lets one instance at a time delete. A row that a transaction has locked is skipped. The statement is not prepared: a
 * plan for any times expects few old rows, and could sort all of them for each batch.
 */
export function sweepStatement(name: string, { table, since, lockId }: SweptTable): Statement<Place, Batch> {
  const [rows, time] = [sql.table(table), sql.ref(since)];
  const prepared = statement<Place, Batch>(
    "write",
    name,
    (_db, parameter) => sql<Batch>`
      with turn as (select pg_try_advisory_xact_lock(${sql.lit(lockId)}) as is_mine),
      swept as (
        delete from ${rows} where ctid = any(array(
          select ctid from ${rows}
          where (select is_mine from turn)
            and ${time} >= ${parameter("sweptTo")}::timestamptz and ${time} < now() - ${parameter("age")}::interval
          order by ${time} limit ${sql.lit(rowsAtOnce)} for update skip locked
        ))
        returning ${time} as since
      )
      select count(since)::integer as deleted, case
        when not is_mine then ${parameter("sweptTo")}::text
        when count(since) < ${sql.lit(rowsAtOnce)} then (now() - ${parameter("age")}::interval)::text
        else max(since)::text end as "sweptTo"
      from turn left join swept on true group by is_mine`,
  );
  return { ...prepared, isUnprepared: true };
}

/**
 * Returns a function that deletes all rows older than `age`, in batches. It stops early if another instance is deleting, because
 * that one deletes the rest. A row that was skipped remains until an instance starts.
 */
export function createSweep(
  database: Pick<Database, "run">,
  deleteBatch: Statement<Place, Batch>,
  age: string,
): () => Promise<void> {
  let sweptTo = "-infinity";
  return async () => {
    for (;;) {
      const [batch] = await database.run(deleteBatch, { age, sweptTo });
      if (batch === undefined) return;
      sweptTo = batch.sweptTo;
      if (batch.deleted < rowsAtOnce) return;
      await sleep(pauseMs);
    }
  };
}

const rowsAtOnce = 1_000;
/** Several times as long as a batch takes. Creates have the disk and the processors for most of the time. */
const pauseMs = 50;
