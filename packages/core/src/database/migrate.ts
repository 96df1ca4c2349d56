import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  type Migration,
  Migrator,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type TransactionSettings,
} from "kysely";
import { DatabaseError, Pool } from "pg";
import { firstTables } from "./migrations/0001-first-tables.js";
import { keysThatChange } from "./migrations/0002-keys-that-change.js";

/** In order. A released migration never changes; a correction is a new migration. */
const migrations: Readonly<Record<string, Migration>> = {
  "0001-first-tables": firstTables,
  "0002-keys-that-change": keysThatChange,
};

/** This version cannot serve requests without it. */
export const newestMigration: string = Object.keys(migrations).at(-1) ?? "";

interface MigrateOptions {
  /** How long to wait for another process that is migrating the same database. */
  readonly lockWaitMs?: number;
}

/**
 * Brings the database to the current schema and returns the names of the migrations that ran. Any number of processes
 * may call it at once: one migrates, the others wait and find nothing left to do. The server ends a session that stopped
 * in the middle of its migration before the waiting processes give up.
 */
export async function migrate(url: string, { lockWaitMs = 30_000 }: MigrateOptions = {}): Promise<string[]> {
  return withMigrator(url, lockWaitMs, async (migrator) => {
    const { error, results = [] } = await migrator.migrateToLatest();
    if (error instanceof DatabaseError && error.code === "55P03") {
      const message = `Another process has been migrating this database for ${lockWaitMs / 1000} s; try again later.`;
      throw new Error(message, { cause: error });
    }
    if (error !== undefined) throw error;
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
  // The statement in flight reports the fault. Without these listeners, the event would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const kysely = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new LocklessAdapter(),
      createDriver: () => new LockingDriver(pool, lockWaitMs),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  try {
    return await work(new Migrator({ db: kysely, provider: { getMigrations: async () => migrations } }));
  } finally {
    await kysely.destroy();
  }
}

/**
 * Kysely's own lock waits for an hour and belongs to the session, which a PgBouncer in transaction mode does not keep.
 * This lock and its time limits belong to the transaction of the migration and end with it.
 */
class LockingDriver extends PostgresDriver {
  constructor(
    pool: Pool,
    readonly lockWaitMs: number,
  ) {
    super({ pool });
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

class LocklessAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

/** An arbitrary number. It must not change: other versions may migrate at the same time. */
const migrationLockId = 7_302_030_512;
