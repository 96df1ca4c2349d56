import { setTimeout as delay } from "node:timers/promises";
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

describe("pipelined reads", () => {
  it("share two connections of the pool, for any number of reads at once", async () => {
    await using database = await open();
    const answers = await Promise.all(Array.from({ length: 100 }, (_, value) => database.run(backend, { value })));
    expect(answers.map(([row]) => row?.value)).toEqual(Array.from({ length: 100 }, (_, value) => value));
    expect(new Set(answers.map(([row]) => row?.pid)).size).toBe(2);
    expect(database.connections()).toMatchObject({ waiting: 0 });
  });

  it("have a connection each in a pool of less than five", async () => {
    await using database = openOf({ poolSize: 4 });
    await Promise.all(Array.from({ length: 8 }, () => database.run(nap, { seconds: 0.05 })));
    expect(database.connections()).toEqual({ open: 4, idle: 4, waiting: 0, timeouts: 0 });
  });

  it("and other statements never take more connections than the pool has", async () => {
    await using database = await open();
    const work = Array.from({ length: 20 }, () => [
      database.run(nap, { seconds: 0.05 }),
      database.run(napAlone, { seconds: 0.05 }),
    ]);
    await Promise.all(work.flat());
    expect(database.connections()).toEqual({ open: 5, idle: 5, waiting: 0, timeouts: 0 });
  });

  it("do not queue behind a slow read", async () => {
    await using database = await open();
    const slow = [database.run(nap, { seconds: 1 }), database.run(nap, { seconds: 1 })];
    await delay(400);
    const startedAtMs = performance.now();
    await database.run(nap, { seconds: 0 });
    expect(performance.now() - startedAtMs).toBeLessThan(400);
    await Promise.all(slow);
  });

  it("are all answered when the server ends their connections, and later reads share new ones", async () => {
    await using database = await open();
    const pids = await Promise.all([backendOf(database), backendOf(database)]);
    const answers = Array.from({ length: 40 }, () => database.run(nap, { seconds: 0.02 }));
    await delay(10);
    await execute(`select pg_terminate_backend(pid) from unnest(array[${pids}]) pid`);
    expect(await Promise.all(answers)).toHaveLength(40);
    await untilShared(database);
    expect(pids).not.toContain(await backendOf(database));
  });

  it("fail with SERVICE_UNAVAILABLE at their time limit, and are not sent again", async () => {
    await using database = await open({ readTimeoutMs: 100, writeTimeoutMs: 100 });
    const startedAtMs = performance.now();
    await expect(database.run(nap, { seconds: 5 })).rejects.toEqual(unavailable);
    expect(performance.now() - startedAtMs).toBeLessThan(1_000);
    expect(await database.run(nap, { seconds: 0 })).toHaveLength(1);
  });

  it("survive a migration that changes the result of a prepared statement", async () => {
    await using database = await open();
    await execute("create table growing (one int); insert into growing values (1)");
    await Promise.all([database.run(everything, {}), database.run(everything, {})]);
    await execute("alter table growing add column two int default 2");
    const grown = [{ one: 1, two: 2 }];
    expect(await Promise.all([database.run(everything, {}), database.run(everything, {})])).toEqual([grown, grown]);
  });

  it("fail with INTERNAL_ERROR if the server rejects them, and the others are answered", async () => {
    await using database = await open();
    const answers = await Promise.allSettled([
      database.run(backend, { value: 1 }),
      database.run(absent, {}),
      database.run(absent, {}),
      database.run(backend, { value: 2 }),
      database.run(absent, {}),
      database.run(backend, { value: 3 }),
    ]);
    const failures = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
    expect(failures).toEqual(Array.from({ length: 3 }, () => expect.objectContaining({ code: "INTERNAL_ERROR" })));
  });

  it("share nothing behind a PgBouncer", async () => {
    await using database = openOf({ url: `${server.directUrl}?pgbouncer=true` });
    await Promise.all(Array.from({ length: 10 }, () => database.run(nap, { seconds: 0.05 })));
    expect(database.connections()).toEqual({ open: 5, idle: 5, waiting: 0, timeouts: 0 });
  });
});

/** The first reads open both shared connections, and do not wait for them. */
async function open(config: Partial<DatabaseConfig> = {}): Promise<Database> {
  const database = openOf(config);
  await untilShared(database);
  return database;
}

async function untilShared(database: Database): Promise<void> {
  await expect
    .poll(async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => database.run(backend, { value: 0 })));
      return new Set(answers.map(([row]) => row?.pid)).size;
    })
    .toBe(2);
}

function openOf(config: Partial<DatabaseConfig>): Database {
  const defaults = {
    url: server.directUrl,
    poolSize: 5,
    acquireTimeoutMs: 2_000,
    readTimeoutMs: 2_000,
    writeTimeoutMs: 2_000,
  };
  return openDatabase({ ...defaults, ...config }, { info() {}, warn() {}, error() {} });
}

async function backendOf(database: Database): Promise<number | undefined> {
  const [row] = await database.run(backend, { value: 0 });
  return row?.pid;
}

async function execute(text: string): Promise<void> {
  const client = new Client({ connectionString: server.directUrl });
  await client.connect();
  await client.query(text);
  await client.end();
}

const backend = statement<{ value: number }, { pid: number; value: number }>(
  "pipelined read",
  "backend",
  (db, parameter) =>
    db.selectNoFrom([sql<number>`pg_backend_pid()`.as("pid"), sql<number>`${parameter("value")}::int`.as("value")]),
);

const nap = statement<{ seconds: number }, { done: unknown }>("pipelined read", "nap", (db, parameter) =>
  db.selectNoFrom(sql`pg_sleep(${parameter("seconds")}::float8)`.as("done")),
);

const napAlone = statement<{ seconds: number }, { done: unknown }>("write", "nap-alone", (db, parameter) =>
  db.selectNoFrom(sql`pg_sleep(${parameter("seconds")}::float8)`.as("done")),
);

const everything = written("everything", "select * from growing");
const absent = written("absent", "select * from absent");

function written(name: string, text: string): Statement<Record<never, never>, unknown> {
  return { name, text, access: "pipelined read", bind: () => [] };
}
