import { setTimeout as sleep } from "node:timers/promises";
import { Kysely, PostgresDialect, sql, type Transaction } from "kysely";
import { DatabaseError, Pool } from "pg";
import { ProtectedClient } from "./connection.js";
import { explainEncoding } from "./encoding.js";
import { migrations } from "./migrations/migrations.js";
import { type NamedSql, queryBuilder } from "./statement.js";

/** The service needs a database with this migration. */
export const newestMigration: string = Object.keys(migrations).at(-1) ?? "";

/**
 * How long a migration waits for a table that a long transaction reads, such as a backup. All later requests for the table
 * wait behind the migration. So the migration gives up soon, and begins again after `pauseMs`.
 */
const tableWaitMs = 200;
const pauseMs = 1_000;

/**
 * Brings the database to the current schema, and returns the names of the migrations that ran. Creates no tables in a database
 * whose encoding cannot hold every name. A database that has tables is migrated, so that a running store can be upgraded, and
 * `petstore doctor` reports its encoding. Several processes may call
 * this at once: one migrates, and the others wait for at most `lockWaitMs`. If the first process stops in the middle,
 * PostgreSQL ends its session before the others give up.
 */
export async function migrate(
  url: string,
  { lockWaitMs = 30_000 }: { readonly lockWaitMs?: number } = {},
): Promise<string[]> {
  const giveUpAtMs = performance.now() + lockWaitMs;
  for (;;) {
    let isAlone = false;
    try {
      return await inTransaction(url, async (db) => {
        await lock(db, Math.max(1, Math.ceil(giveUpAtMs - performance.now())), lockWaitMs * 0.8);
        isAlone = true;
        return await runPending(db);
      });
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code !== "55P03") throw error;
      if (!isAlone || performance.now() + pauseMs > giveUpAtMs)
        throw new Error(refusal(isAlone, lockWaitMs), { cause: error });
    }
    await sleep(pauseMs);
  }
}

async function runPending(db: Transaction<unknown>): Promise<string[]> {
  const pending = await pendingIn(db);
  if (pending.length === Object.keys(migrations).length) await requireEncoding(db);
  if (pending.length > 0) await createMigrationTable.execute(db);
  for (const name of pending) {
    await sql.raw(migrations[name] ?? "").execute(db);
    await recordMigration(name).execute(db);
  }
  return pending;
}

async function requireEncoding(db: Transaction<unknown>): Promise<void> {
  const { rows } = await showEncoding.execute(db);
  const unusable = explainEncoding(rows[0]?.server_encoding ?? "");
  if (unusable !== undefined) throw new Error(`${unusable.fault}. ${unusable.cure}`);
}

function refusal(isAlone: boolean, lockWaitMs: number): string {
  const cause = isAlone
    ? "Other programs, such as a backup, have been using the tables"
    : "Another process has been migrating this database";
  return `${cause} for ${lockWaitMs / 1000} s; try again later.`;
}

/** The names of the migrations that have not run yet, in order. Changes nothing. */
export async function pendingMigrations(url: string): Promise<string[]> {
  return inTransaction(url, pendingIn);
}

/** Has the name and columns of Kysely's migrator, which created this table in older databases. */
const createMigrationTable = sql`
  create table if not exists kysely_migration (name varchar(255) primary key, "timestamp" varchar(255) not null)`;
const findMigrationTable = sql`select where to_regclass('kysely_migration') is not null`;
const selectMigrations = sql<{ name: string }>`select name from kysely_migration`;
const recordMigration = (name: string) => sql`
  insert into kysely_migration
  values (${name}, to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;
const showEncoding = sql<{ server_encoding: string }>`show server_encoding`;

async function inTransaction<Result>(
  url: string,
  work: (db: Transaction<unknown>) => Promise<Result>,
): Promise<Result> {
  const pool = new Pool({
    Client: ProtectedClient,
    connectionString: url,
    application_name: "petstore-migrate",
    max: 1,
    connectionTimeoutMillis: 5_000,
  });
  // Without listeners, an `error` event would end the process. The statement in flight reports the error.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  await using db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  return await db.transaction().execute(work);
}

/**
 * Kysely's migrator waits up to an hour for its lock. The lock belongs to a session, which a PgBouncer in transaction mode
 * does not keep. This lock and its time limits end with the transaction.
 */
async function lock(db: Transaction<unknown>, waitMs: number, idleMs: number): Promise<void> {
  await setIdleTimeout(idleMs).execute(db);
  await setLockTimeout(waitMs).execute(db);
  await takeLock.execute(db);
  await setLockTimeout(tableWaitMs).execute(db);
}

/** An arbitrary number. It must not change: other versions may migrate at the same time. */
const migrationLockId = 7_302_030_512;

const takeLock = sql`select pg_advisory_xact_lock(${sql.lit(migrationLockId)})`;
const setLockTimeout = (ms: number) => sql`select set_config('lock_timeout', ${`${ms}`}, true)`;
const setIdleTimeout = (ms: number) =>
  sql`select set_config('idle_in_transaction_session_timeout', ${`${Math.ceil(ms)}`}, true)`;

/** All statements of this file, which run before and after the migrations. */
export const migratorStatements: readonly NamedSql[] = [
  createMigrationTable,
  findMigrationTable,
  selectMigrations,
  recordMigration(""),
  showEncoding,
  takeLock,
  setLockTimeout(0),
  setIdleTimeout(0),
].map((query) => ({ name: "petstore migrate", text: query.compile(queryBuilder).sql }));

async function pendingIn(db: Transaction<unknown>): Promise<string[]> {
  const found = await findMigrationTable.execute(db);
  if (found.rows.length === 0) return Object.keys(migrations);
  const { rows } = await selectMigrations.execute(db);
  const done = new Set(rows.map(({ name }) => name));
  return Object.keys(migrations).filter((name) => !done.has(name));
}
