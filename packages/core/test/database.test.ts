import { createTestDatabase, type TestDatabase } from "@petstore/harness";
import { sql } from "kysely";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, type DatabaseConfig, openDatabase } from "../src/database/database.js";
import { type Statement, statement } from "../src/database/statement.js";

let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase();
});
afterAll(() => server[Symbol.asyncDispose]());

const unavailable = expect.objectContaining({ code: "SERVICE_UNAVAILABLE", status: 503, retryAfterSeconds: 1 });
const late = expect.objectContaining({
  code: "SERVICE_UNAVAILABLE",
  message: "The database did not answer in time; try again shortly.",
});
const gone = expect.objectContaining({
  code: "SERVICE_UNAVAILABLE",
  message: "The database is unavailable; try again shortly.",
});

describe("the database", () => {
  it("returns int8 as bigint, digit for digit", async () => {
    await using database = open();
    expect(await database.run(echo, { value: 9223372036854775807n })).toEqual([{ value: 9223372036854775807n }]);
    expect(await database.run(echo, { value: -9223372036854775808n })).toEqual([{ value: -9223372036854775808n }]);
  });

  it("prepares a statement once for each connection and reuses it under its name", async () => {
    await using database = open({ poolSize: 1, url: server.directUrl });
    for (let round = 0; round < 3; round++) await database.run(echo, { value: 1n });
    expect(await database.run(prepared, {})).toContainEqual({ name: "echo" });
    expect(await database.run(statementTimeout, {})).toEqual([{ set: "2s" }]);
  });

  it("names no statement and sets nothing for a session behind a PgBouncer", async () => {
    await using database = open({ poolSize: 1, url: `${server.directUrl}?pgbouncer=true` });
    for (let round = 0; round < 3; round++) await database.run(echo, { value: 1n });
    expect(await database.run(prepared, {})).toEqual([]);
    expect(await database.run(statementTimeout, {})).toEqual([{ set: "0" }]);
  });

  it("throws SERVICE_UNAVAILABLE if no connection becomes free in time", async () => {
    await using database = open({ poolSize: 1, acquireTimeoutMs: 700, writeTimeoutMs: 10_000 });
    const holding = database.run(sleep, { seconds: 3 });
    const queued = database.run(echo, { value: 1n });
    await expect.poll(() => database.connections()).toEqual({ open: 1, idle: 0, waiting: 1, timeouts: 0 });
    await expect(queued).rejects.toEqual(late);
    await expect(database.run(echo, { value: 1n })).rejects.toEqual(late);
    expect(database.connections()).toMatchObject({ timeouts: 2 });
    await holding;
    expect(await database.run(echo, { value: 1n })).toHaveLength(1);
  });

  it("gives reads a shorter limit than writes on the same connection", async () => {
    await using database = open({ poolSize: 1, url: server.directUrl, readTimeoutMs: 500, writeTimeoutMs: 2_000 });
    for (let round = 0; round < 2; round++) {
      expect(await database.run(limitsOfReading, {})).toEqual([{ statement: "500ms", lock: "450ms" }]);
      expect(await database.run(limitsOfWriting, {})).toEqual([{ statement: "2s", lock: "1800ms" }]);
    }
    const startedAtMs = performance.now();
    await expect(database.run(sleepReading, { seconds: 5 })).rejects.toEqual(late);
    expect(performance.now() - startedAtMs).toBeLessThan(2_000);
  });

  it.each([
    ["reads", "read", 100],
    ["writes", "write", 400],
  ])("keeps the limit of %s behind a PgBouncer, without a setting of the session", async (_what, kind, limitMs) => {
    const limits = { readTimeoutMs: 100, writeTimeoutMs: 400 };
    await using database = open({ poolSize: 1, url: `${server.directUrl}?pgbouncer=true`, ...limits });
    const startedAtMs = performance.now();
    const statement = kind === "read" ? sleepReading : sleep;
    await expect(database.run(statement, { seconds: 5 })).rejects.toEqual(late);
    const tookMs = performance.now() - startedAtMs;
    expect(tookMs).toBeGreaterThanOrEqual(limitMs);
    expect(tookMs).toBeLessThan(4_000);
    expect(await database.run(echo, { value: 1n })).toHaveLength(1);
  });

  it("ends a statement at its limit, and runs the next one on the same pool", async () => {
    await using database = open({ poolSize: 1, readTimeoutMs: 50, writeTimeoutMs: 50 });
    await expect(database.run(sleep, { seconds: 5 })).rejects.toEqual(unavailable);
    expect(await database.run(echo, { value: 1n })).toHaveLength(1);
  });

  it("loses at most one statement for each connection that the server ends, idle or in use", async () => {
    await using database = open({ poolSize: 2 });
    const holding = database.run(sleep, { seconds: 5 });
    await database.run(echo, { value: 1n });
    const failed = expect(holding).rejects.toEqual(unavailable);
    await terminateOthers();
    await failed;
    await database.run(echo, { value: 1n }).catch((problem: unknown) => expect(problem).toEqual(unavailable));
    expect(await database.run(echo, { value: 1n })).toHaveLength(1);
  });

  it("throws SERVICE_UNAVAILABLE if nothing listens", async () => {
    await using database = open({ url: "postgres://petstore@127.0.0.1:1/petstore" });
    await expect(database.run(echo, { value: 1n })).rejects.toEqual(gone);
  });

  it("prepares a statement again after one failure when a migration has changed its result", async () => {
    await using database = open({ poolSize: 1, url: server.directUrl });
    await execute("create table changing (one int); insert into changing values (1)");
    expect(await database.run(everything, {})).toEqual([{ one: 1 }]);
    await execute("alter table changing add column two int default 2");
    await expect(database.run(everything, {})).rejects.toEqual(unavailable);
    expect(await database.run(everything, {})).toEqual([{ one: 1, two: 2 }]);
  });

  it("throws INTERNAL_ERROR if the server rejects a statement, and keeps the connection", async () => {
    await using database = open({ poolSize: 1 });
    await expect(database.run(mistaken, {})).rejects.toMatchObject({ code: "INTERNAL_ERROR" });
    expect(await database.run(echo, { value: 1n })).toHaveLength(1);
  });
});

function open(config: Partial<DatabaseConfig> = {}): Database {
  const defaults = {
    url: server.url,
    poolSize: 2,
    acquireTimeoutMs: 1_000,
    readTimeoutMs: 2_000,
    writeTimeoutMs: 2_000,
  };
  return openDatabase({ ...defaults, ...config }, { info() {}, warn() {}, error() {} });
}

async function terminateOthers(): Promise<void> {
  await execute(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
}

async function execute(text: string): Promise<void> {
  const client = new Client({ connectionString: server.directUrl });
  await client.connect();
  await client.query(text);
  await client.end();
}

const echo = statement<{ value: bigint }, { value: bigint }>("write", "echo", (db, parameter) =>
  db.selectNoFrom(sql<bigint>`${parameter("value")}::bigint`.as("value")),
);

const everything: Statement<Record<never, never>, unknown> = {
  name: "everything",
  text: "select * from changing",
  access: "write" as const,
  bind: () => [],
};

const sleep = statement<{ seconds: number }, { done: unknown }>("write", "sleep", (db, parameter) =>
  db.selectNoFrom(sql`pg_sleep(${parameter("seconds")}::float8)`.as("done")),
);

const prepared = statement<Record<never, never>, { name: string }>("write", "prepared", (db) =>
  db.selectNoFrom(sql<string>`unnest(array(select name from pg_prepared_statements))`.as("name")),
);

const statementTimeout = statement<Record<never, never>, { set: string }>("write", "statement-timeout", (db) =>
  db.selectNoFrom(sql<string>`current_setting('statement_timeout')`.as("set")),
);

const sleepReading = statement<{ seconds: number }, { done: unknown }>("read", "sleep-reading", (db, parameter) =>
  db.selectNoFrom(sql`pg_sleep(${parameter("seconds")}::float8)`.as("done")),
);

const limits = [
  sql<string>`current_setting('statement_timeout')`.as("statement"),
  sql<string>`current_setting('lock_timeout')`.as("lock"),
];
const limitsOfReading = statement<Record<never, never>, { statement: string; lock: string }>(
  "read",
  "limits-reading",
  (db) => db.selectNoFrom(limits),
);
const limitsOfWriting = statement<Record<never, never>, { statement: string; lock: string }>(
  "write",
  "limits-writing",
  (db) => db.selectNoFrom(limits),
);

const mistaken = statement<Record<never, never>, { value: number }>("write", "mistaken", (db) =>
  db.selectNoFrom(sql<number>`1 / 0`.as("value")),
);
