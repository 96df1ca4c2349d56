import { type Kysely, sql } from "kysely";
import { sqlState } from "../database-errors.js";
import { queryBuilder } from "../statement.js";

/** A migration that builds an index outside a transaction, while the services write. For a table that may be large. */
export interface ConcurrentIndex {
  readonly index: string;
  /** The table and the columns, as in `pets (status, id)`. */
  readonly on: string;
}

/**
 * Builds the index, unless it exists. A build that was cut off leaves an invalid index, which no query uses and every write
 * maintains: it is dropped, and built again. Returns false if PostgreSQL is still building it for a process that has died. To wait
 * inside PostgreSQL would be a deadlock, because a build waits for all statements that are older than its last phase.
 */
export async function buildIndex(db: Kysely<unknown>, wanted: ConcurrentIndex): Promise<boolean> {
  const found = await readState(db, wanted);
  if (found?.isValid) return true;
  if (found?.isBeingBuilt) return false;
  if (found !== undefined) await dropIndex(wanted).execute(db);
  try {
    await createIndex(wanted).execute(db);
    return true;
  } catch (error) {
    // A process that has died waited for the table before us, so its build began first. PostgreSQL ends one of the two builds.
    const isOvertaken = /^(40P01|42P07)$/.test(sqlState(error) ?? "");
    if (isOvertaken && (await readState(db, wanted)) !== undefined) return false;
    throw error;
  }
}

interface State {
  readonly isValid: boolean;
  readonly isBeingBuilt: boolean;
}

async function readState(db: Kysely<unknown>, wanted: ConcurrentIndex): Promise<State | undefined> {
  const { rows } = await selectState(wanted).execute(db);
  return rows[0];
}

const selectState = ({ index }: ConcurrentIndex) => sql<State>`
  select indisvalid as "isValid",
    exists (select from pg_stat_progress_create_index where index_relid = indexrelid) as "isBeingBuilt"
  from pg_index where indexrelid = to_regclass(${index})`;
const createIndex = ({ index, on }: ConcurrentIndex) =>
  sql`create index concurrently ${sql.raw(index)} on ${sql.raw(on)}`;
const dropIndex = ({ index }: ConcurrentIndex) => sql`drop index concurrently ${sql.raw(index)}`;

/** The statements of this file, for this index. */
export function concurrentIndexStatements(wanted: ConcurrentIndex): readonly string[] {
  return [createIndex, selectState, dropIndex].map((build) => build(wanted).compile(queryBuilder).sql);
}
