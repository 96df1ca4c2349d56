import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  type Migration,
  Migrator,
  PostgresAdapter,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
  type TransactionSettings,
} from "kysely";
import { DatabaseError, Pool } from "pg";
import { firstTables } from "./migrations/0001-first-tables.js";
import { keysThatChange } from "./migrations/0002-keys-that-change.js";

/** In order. A migration that has been released never changes; a correction is a new one. */
const migrations: Readonly<Record<string, Migration>> = {
  "0001-first-tables": firstTables,
  "0002-keys-that-change": keysThatChange,
};

/** Without it, this version cannot serve a request. */
export const newestMigration: string = Object.keys(migrations).at(-1) ?? "";

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
  return withMigrator(url, lockWaitMs, async (migrator) => {
    const { error, results = [] } = await migrator.migrateToLatest();
    if (error !== undefined) throw lockTimedOut(error) ? stillLocked(lockWaitMs, error) : error;
    return results.map((result) => result.migrationName);
  });
}

/** The names of the migrations that have not run yet, in order. Changes nothing. */
export async function pendingMigrations(url: string): Promise<string[]> {
  return withMigrator(url, 5_000, async (migrator) => {
    const known = await migrator.getMigrations();
    return known.filter(({ executedAt }) => executedAt === undefined).map(({ name }) => name);
  });
}

async function withMigrator<Result>(
  url: string,
  lockWaitMs: number,
  work: (migrator: Migrator) => Promise<Result>,
): Promise<Result> {
  const pool = new Pool({
    connectionString: url,
    application_name: "petstore-migrate",
    max: 1,
    connectionTimeoutMillis: 5_000,
  });
  // The statement that was under way reports the fault; this only keeps the event from ending the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const kysely = new Kysely<unknown>({ dialect: new LockingDialect({ pool }, lockWaitMs) });
  try {
    return await work(new Migrator({ db: kysely, provider: { getMigrations: async () => migrations } }));
  } finally {
    await kysely.destroy();
  }
}

/**
 * Kysely's own lock waits an hour and belongs to the session, which no transaction pooler keeps. This one is taken by
 * the transaction that migrates, with the limits on it, and ends with it.
 */
class LockingDriver extends PostgresDriver {
  constructor(
    config: PostgresDialectConfig,
    readonly lockWaitMs: number,
  ) {
    super(config);
  }

  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    await super.beginTransaction(connection, settings);
    await connection.executeQuery(
      CompiledQuery.raw(
        `select set_config('lock_timeout', '${this.lockWaitMs}', true),
           set_config('idle_in_transaction_session_timeout', '${Math.ceil(this.lockWaitMs * 0.8)}', true)`,
      ),
    );
    await connection.executeQuery(CompiledQuery.raw(`select pg_advisory_xact_lock(${migrationLockId})`));
  }
}

class LockingAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

class LockingDialect extends PostgresDialect {
  constructor(
    readonly config: PostgresDialectConfig,
    readonly lockWaitMs: number,
  ) {
    super(config);
  }

  override createDriver(): PostgresDriver {
    return new LockingDriver(this.config, this.lockWaitMs);
  }

  override createAdapter(): PostgresAdapter {
    return new LockingAdapter();
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
