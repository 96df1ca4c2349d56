import { createTestDatabase, type TestDatabase } from "@petstore/testing";
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

  it("names no statement and sets nothing for a session where a PgBouncer is said to stand", async () => {
    await using database = open({ poolSize: 1, url: `${server.directUrl}?pgbouncer=true` });
    for (let round = 0; round < 3; round++) await database.run(echo, { value: 1n });
    expect(await database.run(prepared, {})).toEqual([]);
    expect(await database.run(statementTimeout, {})).toEqual([{ set: "0" }]);
  });

  it("answers SERVICE_UNAVAILABLE when no connection comes free in time", async () => {
    await using database = open({ poolSize: 1, acquireTimeoutMs: 50 });
    const holding = database.run(sleep, { seconds: 0.3 });
    const queued = database.run(echo, { value: 1n });
    await expect.poll(() => database.connections()).toEqual({ open: 1, idle: 0, waiting: 1 });
    await expect(queued).rejects.toEqual(unavailable);
    await expect(database.run(echo, { value: 1n })).rejects.toEqual(unavailable);
    await holding;
    expect(await database.run(echo, { value: 1n })).toHaveLength(1);
  });

  it("ends a statement at its limit, and serves the next one on the same pool", async () => {
    await using database = open({ poolSize: 1, statementTimeoutMs: 50 });
    await expect(database.run(sleep, { seconds: 5 })).rejects.toEqual(unavailable);
    expect(await database.run(echo, { value: 1n })).toHaveLength(1);
  });

  it("survives the end of its connections, idle or in use, and loses one statement at most for each", async () => {
    await using database = open({ poolSize: 2 });
    const holding = database.run(sleep, { seconds: 5 });
    await database.run(echo, { value: 1n });
    const failed = expect(holding).rejects.toEqual(unavailable);
    await terminateOthers();
    await failed;
    await database.run(echo, { value: 1n }).catch((problem: unknown) => expect(problem).toEqual(unavailable));
    expect(await database.run(echo, { value: 1n })).toHaveLength(1);
  });

  it("answers SERVICE_UNAVAILABLE where nothing listens", async () => {
    await using database = open({ url: "postgres://petstore@127.0.0.1:1/petstore" });
    await expect(database.run(echo, { value: 1n })).rejects.toEqual(unavailable);
  });

  it("prepares a statement anew, at the cost of one answer, when a migration has changed what it returns", async () => {
    await using database = open({ poolSize: 1, url: server.directUrl });
    await execute("create table changing (one int); insert into changing values (1)");
    expect(await database.run(everything, {})).toEqual([{ one: 1 }]);
    await execute("alter table changing add column two int default 2");
    await expect(database.run(everything, {})).rejects.toEqual(unavailable);
    expect(await database.run(everything, {})).toEqual([{ one: 1, two: 2 }]);
  });

  it("takes a statement the server rejects for a fault of ours, and keeps the connection", async () => {
    await using database = open({ poolSize: 1 });
    await expect(database.run(mistaken, {})).rejects.toMatchObject({ code: "INTERNAL_ERROR" });
    expect(await database.run(echo, { value: 1n })).toHaveLength(1);
  });
});

function open(config: Partial<DatabaseConfig> = {}): Database {
  const defaults = { url: server.url, poolSize: 2, acquireTimeoutMs: 1_000, statementTimeoutMs: 2_000 };
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

const echo = statement<{ value: bigint }, { value: bigint }>("echo", (db, slot) =>
  db.selectNoFrom(sql<bigint>`${slot("value")}::bigint`.as("value")),
);

const everything: Statement<Record<never, never>, unknown> = {
  name: "everything",
  text: "select * from changing",
  bind: () => [],
};

const sleep = statement<{ seconds: number }, { done: unknown }>("sleep", (db, slot) =>
  db.selectNoFrom(sql`pg_sleep(${slot("seconds")}::float8)`.as("done")),
);

const prepared = statement<Record<never, never>, { name: string }>("prepared", (db) =>
  db.selectNoFrom(sql<string>`unnest(array(select name from pg_prepared_statements))`.as("name")),
);

const statementTimeout = statement<Record<never, never>, { set: string }>("statement-timeout", (db) =>
  db.selectNoFrom(sql<string>`current_setting('statement_timeout')`.as("set")),
);

const mistaken = statement<Record<never, never>, { value: number }>("mistaken", (db) =>
  db.selectNoFrom(sql<number>`1 / 0`.as("value")),
);
