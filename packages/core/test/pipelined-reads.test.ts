import { openSession } from "@petstore/harness/postgres";
import { describe, expect, it } from "vitest";
import type { DatabaseConfig } from "../src/database/connection-config.js";
import type { Database } from "../src/database/database.js";
import { limitedTo, openSharedDatabase, sqlOf } from "./database-fixture.js";
import { openCatalogue } from "./pages/open-catalogue.js";

const server = await openSharedDatabase();

const backend = sqlOf<{ pid: number; value: number }>("read", "select pg_backend_pid() as pid, $1::int as value");
const nap = sqlOf("read", "select pg_sleep($1::float8)");
const napAlone = sqlOf("write", "select pg_sleep($1::float8)");
const waitForLock = sqlOf("write", "select pg_advisory_xact_lock(1)");
const waitForLockReading = sqlOf("read", "select pg_advisory_xact_lock(1)");

describe("pipelined reads", () => {
  it("share two connections of the pool, for any number of reads at once", async () => {
    await using database = await open();
    const answers = await Promise.all(Array.from({ length: 100 }, (_, value) => database.run(backend, [value])));
    expect(answers.map(([row]) => row?.value)).toEqual(Array.from({ length: 100 }, (_, value) => value));
    expect(new Set(answers.map(([row]) => row?.pid)).size).toBe(2);
    expect(database.connections()).toMatchObject({ waiting: 0 });
  });

  it.each([
    { title: "with writes, never take more connections than the pool has", poolSize: 5, query: "" },
    { title: "have a connection each in a pool of less than five", poolSize: 4, query: "" },
    { title: "have a connection each behind a PgBouncer", poolSize: 5, query: "?pgbouncer=true" },
  ])("$title", async ({ poolSize, query }) => {
    await using database = server.open({ poolSize, url: new URL(query, server.directUrl).href });
    const statements = Array.from({ length: 20 }, () => [nap, napAlone]).flat();
    await Promise.all(statements.map((statement) => database.run(statement, [0.05])));
    expect(database.connections()).toEqual({ open: poolSize, idle: poolSize, waiting: 0 });
  });

  it("of pets are answered while writes hold every connection of the pool", async () => {
    await using database = await open(limitedTo(20_000));
    await using holder = await openSession(server.directUrl);
    await holder.query("select pg_advisory_lock(1)");
    const writes = Array.from({ length: 4 }, () => database.run(waitForLock, []));
    await expect.poll(() => database.connections()).toEqual({ open: 5, idle: 2, waiting: 1 });
    using catalogue = openCatalogue(database);
    for (const status of [undefined, "sold"]) expect(await catalogue.list({ status })).toMatchObject({ pets: [] });
    await expect(catalogue.get("1")).rejects.toMatchObject({ code: "PET_NOT_FOUND" });
    await holder.query("select pg_advisory_unlock(1)");
    expect(await Promise.all(writes)).toHaveLength(4);
  });

  it("do not queue behind a slow read", async () => {
    await using database = await open(limitedTo(20_000));
    await using holder = await openSession(server.directUrl);
    await holder.query("select pg_advisory_lock(1)");
    const slow = [1, 2].map(() => database.run(waitForLockReading, []));
    let answered = 0;
    // The first of these reads still queue, until the slow ones are noticed.
    const readAgain = () => {
      void backendOf(database).then(() => answered++);
      return answered;
    };
    await expect.poll(readAgain).toBeGreaterThan(0);
    await holder.query("select pg_advisory_unlock(1)");
    expect(await Promise.all(slow)).toHaveLength(2);
  });

  it("are all answered when the server ends their connections, and later reads share new ones", async () => {
    await using database = await open();
    const pids = await Promise.all([backendOf(database), backendOf(database)]);
    const answers = Array.from({ length: 40 }, () => database.run(nap, [0.02]));
    await server.execute(`select pg_terminate_backend(pid) from unnest(array[${pids}]) pid`);
    expect(await Promise.all(answers)).toHaveLength(40);
    await untilShared(database);
    expect(pids).not.toContain(await backendOf(database));
  });
});

it.each(["write", "read"] as const)(
  "a %s that the server rejects is INTERNAL_ERROR, and the others that were sent at once are run",
  async (access) => {
    await using database = await open();
    const one = { status: "fulfilled", value: [{ one: 1 }] };
    const rejected = { status: "rejected", reason: { code: "INTERNAL_ERROR" } };
    const texts = Array.from({ length: 20 }, (_, place) => (place % 2 === 0 ? "select 1 as one" : "select 1 / 0"));
    const outcomes = await Promise.allSettled(texts.map((text) => database.run(sqlOf(access, text), [])));
    expect(outcomes).toMatchObject(texts.map((_, place) => (place % 2 === 0 ? one : rejected)));
  },
);

/** The first reads open both shared connections, and do not wait for them. */
async function open(config: Partial<DatabaseConfig> = {}): Promise<Database> {
  const database = server.open({ url: server.directUrl, ...config });
  await untilShared(database);
  return database;
}

async function untilShared(database: Database): Promise<void> {
  const sharedBy = async () => new Set(await Promise.all(Array.from({ length: 10 }, () => backendOf(database)))).size;
  await expect.poll(sharedBy).toBe(2);
}

async function backendOf(database: Database): Promise<number | undefined> {
  const [row] = await database.run(backend, [0]);
  return row?.pid;
}
