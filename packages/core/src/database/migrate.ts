import { setTimeout as sleep } from "node:timers/promises";
import { Kysely, PostgresDialect, sql, type Transaction } from "kysely";
import { Pool } from "pg";
import { ProtectedClient } from "./connection.js";
import { isTransactionPooler } from "./connection-config.js";
import { sqlState } from "./database-errors.js";
import { explainEncoding } from "./encoding.js";
import {
  compareMigrations,
  type MigrationStatus,
  migrationNames,
  selectAppliedMigrations,
} from "./migration-status.js";
import { buildIndex, type ConcurrentIndex } from "./migrations/concurrent-index.js";
import { type Migration, migrations } from "./migrations/migrations.js";
import { type NamedSql, queryBuilder } from "./statement.js";

/**
 * Brings the database to the current schema, and returns the names of the migrations that ran. Creates no tables in a database
 * whose encoding cannot hold every name. A database that has tables is migrated, so that a running store can be upgraded, and
 * `petstore doctor` reports its encoding.
 *
 * Each migration is a step of its own: SQL in one transaction, or an index, which is built outside a transaction. The step
 * marks the migration as applied at its end. So a migrator that continues after a crash repeats only the last step.
 *
 * Two migrations in one transaction could starve under load: the first has locked one table, and the second waits for another
 * one. Requests that have locked them in the other order wait for the migrator, and the migrator waits for the requests.
 *
 * Several processes may call this at once: one takes a step, and the others wait for at most `lockWaitMs`. If a process
 * vanishes during a step, PostgreSQL ends its transaction before the others give up.
 */
export async function migrate(
  url: string,
  { lockWaitMs = 30_000 }: { readonly lockWaitMs?: number } = {},
): Promise<string[]> {
  await using db = openMigrator(url);
  const migrator: Migrator = { db, isBehindPgBouncer: isTransactionPooler(url), lockWaitMs };
  const applied: string[] = [];
  for (;;) {
    const step = await takeStep(migrator);
    if (step.applied !== undefined) applied.push(step.applied);
    if (step.isLast) return applied;
  }
}

/** What the database lacks, and what it has from a newer release. Changes nothing. */
export async function readMigrations(url: string): Promise<MigrationStatus> {
  await using db = openMigrator(url);
  return await db.transaction().execute(statusOf);
}

interface Migrator {
  readonly db: Kysely<unknown>;
  readonly isBehindPgBouncer: boolean;
  readonly lockWaitMs: number;
}

interface Step {
  /** The name of the migration, or `undefined` if none was pending. */
  readonly applied: string | undefined;
  readonly isLast: boolean;
}

/** What the step has to wait for. */
type Obstacle = "migrator" | "table" | "build";

/**
 * How long a step waits for a table that a long transaction reads, such as a backup. All later requests for the table wait
 * behind the migration. So the step gives up soon, and begins again after the pause.
 */
const tableWaitMs = 200;

/** A busy process may need this long for its next statement. */
const shortestIdleMs = 4_000;

const obstacles: Readonly<Record<Obstacle, { readonly pauseMs: number; readonly what: string }>> = {
  migrator: { pauseMs: 100, what: "Another process has been migrating this database" },
  table: { pauseMs: 1_000, what: "Other programs, such as a backup, have been using the tables" },
  build: { pauseMs: 1_000, what: "PostgreSQL has been building an index for a process that has ended" },
};

async function takeStep(migrator: Migrator): Promise<Step> {
  const { lockWaitMs } = migrator;
  const giveUpAtMs = performance.now() + lockWaitMs;
  for (;;) {
    const outcome = await tryStep(migrator);
    if (typeof outcome === "object") return outcome;
    const { pauseMs, what } = obstacles[outcome];
    if (performance.now() + pauseMs > giveUpAtMs) {
      throw new Error(`${what} for ${lockWaitMs / 1_000} s; try again later.`);
    }
    await sleep(pauseMs);
  }
}

/**
 * The transaction holds the lock of migrators until its end. A lock of a session would not do, because a PgBouncer in
 * transaction mode does not keep sessions.
 *
 * No process waits for the lock inside PostgreSQL: the build of an index waits for all statements that run, and so for the
 * waiting one, which waits for the build. PostgreSQL does not see this deadlock, because the lock and the build belong to
 * different sessions.
 */
async function tryStep(migrator: Migrator): Promise<Step | Obstacle> {
  // Otherwise the transaction would keep the snapshot of its first statement, for which the build of an index waits.
  const transaction = migrator.db.transaction().setIsolationLevel("read committed");
  try {
    return await transaction.execute(async (db) => {
      await setIdleTimeout(Math.max(shortestIdleMs, migrator.lockWaitMs * 0.8)).execute(db);
      const { rows } = await tryLock.execute(db);
      if (!rows[0]?.isMine) return "migrator";
      await setLockTimeout(tableWaitMs).execute(db);
      return await runStep(migrator, db);
    });
  } catch (error) {
    if (sqlState(error) === "55P03") return "table";
    throw error;
  }
}

async function runStep(migrator: Migrator, db: Transaction<unknown>): Promise<Step | Obstacle> {
  const { pending } = await statusOf(db);
  if (pending.length === migrationNames.length) {
    await requireEncoding(db);
    await createMigrationTable.execute(db);
  }
  const [name] = pending;
  if (name === undefined) return { applied: undefined, isLast: true };
  const migration = migrations[name] as Migration;
  if (typeof migration === "string") await sql.raw(migration).execute(db);
  else if (!(await buildWhileLocked(migrator, db, migration))) return "build";
  await recordMigration(name).execute(db);
  return { applied: name, isLast: pending.length === 1 };
}

/** Builds the index on another connection, while the transaction keeps the lock of migrators. Returns what `buildIndex` returns. */
async function buildWhileLocked(
  { db: pool, isBehindPgBouncer, lockWaitMs }: Migrator,
  transaction: Transaction<unknown>,
  wanted: ConcurrentIndex,
): Promise<boolean> {
  // If the transaction is lost, its next statement reports that.
  const keepAlive = () => void showLockTimeout.execute(transaction).catch(() => {});
  const timer = setInterval(keepAlive, shortestIdleMs / 4);
  try {
    return await pool.connection().execute(async (db) => {
      if (!isBehindPgBouncer) await setBuildLimits(lockWaitMs).execute(db);
      return await buildIndex(db, wanted);
    });
  } finally {
    clearInterval(timer);
  }
}

async function requireEncoding(db: Transaction<unknown>): Promise<void> {
  const { rows } = await showEncoding.execute(db);
  const unusable = explainEncoding(rows[0]?.server_encoding ?? "");
  if (unusable !== undefined) throw new Error(`${unusable.fault}. ${unusable.cure}`);
}

async function statusOf(db: Transaction<unknown>): Promise<MigrationStatus> {
  const found = await findMigrationTable.execute(db);
  if (found.rows.length === 0) return compareMigrations([]);
  const { rows } = await selectMigrations.execute(db);
  return compareMigrations(rows);
}

/** Two connections: one holds the lock, and the other builds an index. */
function openMigrator(url: string): Kysely<unknown> {
  const pool = new Pool({
    Client: ProtectedClient,
    connectionString: url,
    application_name: "petstore-migrate",
    max: 2,
    connectionTimeoutMillis: 10_000,
  });
  // Without listeners, an `error` event would end the process. The statement in flight reports the error.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
}

/** Has the name and columns of Kysely's migrator, which created this table in older databases. */
const createMigrationTable = sql`
  create table if not exists kysely_migration (name varchar(255) primary key, "timestamp" varchar(255) not null)`;
const findMigrationTable = sql`select where to_regclass('kysely_migration') is not null`;
const selectMigrations = sql<{ name: string }>`${sql.raw(selectAppliedMigrations)}`;
const recordMigration = (name: string) => sql`
  insert into kysely_migration
  values (${name}, to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;
const showEncoding = sql<{ server_encoding: string }>`show server_encoding`;

/** An arbitrary number. It must not change: other versions may migrate at the same time. */
const migrationLockId = 7_302_030_512;

const tryLock = sql<{ isMine: boolean }>`
  select pg_try_advisory_xact_lock(${sql.lit(migrationLockId)}) as "isMine"`;
const setLockTimeout = (ms: number) => sql`select set_config('lock_timeout', ${`${ms}`}, true)`;
const setIdleTimeout = (ms: number) =>
  sql`select set_config('idle_in_transaction_session_timeout', ${`${Math.ceil(ms)}`}, true)`;

/**
 * A large table takes longer than the limits of the role may allow. The build waits for all transactions that began before it.
 * Meanwhile nobody waits for the build.
 */
const setBuildLimits = (lockMs: number) => sql`
  select set_config('lock_timeout', ${`${lockMs}`}, false), set_config('statement_timeout', '0', false)`;

/** Any statement that takes no snapshot will do. The build waits for the whole transaction of a snapshot that it sees. */
const showLockTimeout = sql`show lock_timeout`;

/** All statements of this file, which run before and after the migrations. */
export const migratorStatements: readonly NamedSql[] = [
  createMigrationTable,
  findMigrationTable,
  selectMigrations,
  recordMigration(""),
  showEncoding,
  tryLock,
  setLockTimeout(0),
  setIdleTimeout(0),
  setBuildLimits(0),
  showLockTimeout,
].map((query) => ({ name: "petstore migrate", text: query.compile(queryBuilder).sql }));
