import { Kysely, type Migration, Migrator, PostgresAdapter, PostgresDialect, sql } from "kysely";
import { DatabaseError, Pool } from "pg";
import { firstTables } from "./migrations/0001-first-tables.js";

/** In order. A migration that has been released never changes; a correction is a new one. */
const migrations: Readonly<Record<string, Migration>> = {
  "0001-first-tables": firstTables,
};

export interface MigrateOptions {
  /** How long to wait for another process that is migrating the same database. */
  readonly lockWaitMs?: number;
}

/**
 * Brings the database to the current schema and returns the names of the migrations that ran. Any number of processes
 * may call it at once: one migrates, the others wait and find nothing left to do. A migrator that stopped with the lock
 * in its hands is cut off by the server before those waiting give up.
 */
export async function migrate(url: string, { lockWaitMs = 30_000 }: MigrateOptions = {}): Promise<string[]> {
  const idleMs = Math.ceil(lockWaitMs * 0.8);
  const pool = new Pool({
    connectionString: url,
    application_name: "petstore-migrate",
    max: 1,
    connectionTimeoutMillis: 5_000,
    lock_timeout: lockWaitMs,
    options: `-c idle_session_timeout=${idleMs} -c idle_in_transaction_session_timeout=${idleMs}`,
  });
  // The statement that was under way reports the fault; this only keeps the event from ending the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const kysely = new Kysely<unknown>({ dialect: new BoundedLockDialect({ pool }) });
  try {
    const migrator = new Migrator({ db: kysely, provider: { getMigrations: async () => migrations } });
    const { error, results = [] } = await migrator.migrateToLatest();
    if (error !== undefined) throw lockTimedOut(error) ? stillLocked(lockWaitMs, error) : error;
    return results.map((result) => result.migrationName);
  } finally {
    await kysely.destroy();
  }
}

/** Kysely's own lock sets a timeout of an hour; this one waits as long as the session's lock_timeout says. */
class BoundedLockAdapter extends PostgresAdapter {
  override async acquireMigrationLock(db: Kysely<unknown>): Promise<void> {
    await sql`select pg_advisory_lock(${sql.lit(migrationLockId)})`.execute(db);
  }

  override async releaseMigrationLock(db: Kysely<unknown>): Promise<void> {
    await sql`select pg_advisory_unlock(${sql.lit(migrationLockId)})`.execute(db);
  }
}

class BoundedLockDialect extends PostgresDialect {
  override createAdapter(): PostgresAdapter {
    return new BoundedLockAdapter();
  }
}

/** Any number will do, as long as it never changes and nothing else in the database locks it. */
const migrationLockId = 7_302_030_512;

function lockTimedOut(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "55P03";
}

function stillLocked(lockWaitMs: number, cause: unknown): Error {
  return new Error(`Another process has been migrating this database for ${lockWaitMs / 1000} s; try again later.`, {
    cause,
  });
}
