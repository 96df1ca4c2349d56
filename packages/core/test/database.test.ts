import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTestDatabase } from "@petstore/harness";
import { query } from "@petstore/harness/postgres";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { describe, expect, it } from "vitest";
import { late, limitedTo, openSharedDatabase, sqlOf, unavailable } from "./database-fixture.js";

const server = await openSharedDatabase();

const echo = sqlOf<{ value: bigint }>("write", "select $1::bigint as value");
const sleep = sqlOf("write", "select pg_sleep($1::float8)");
const sleepReading = sqlOf("read", "select pg_sleep($1::float8)");
const prepared = sqlOf<{ name: string }>("write", "select name from pg_prepared_statements");
const limits =
  "select concat_ws(', ', current_setting('statement_timeout'), current_setting('lock_timeout')) as limits";

describe("the database", () => {
  it("is unavailable while a certificate of its URL is missing, and recovers by itself", async () => {
    await using directory = await openTemporaryDirectory();
    const certificate = join(directory.path, "root.pem");
    await writeFile(certificate, "");
    const url = new URL(`?sslmode=disable&sslrootcert=${certificate}`, server.directUrl).href;
    await using database = server.open({ url, poolSize: 1, ...limitedTo(30_000) });
    const sleeping = "from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'";
    // The server goes on with statements that other tests have given up.
    await expect.poll(() => server.execute(`select ${sleeping}`)).toHaveLength(0);
    // The second statement gets a new connection when the one of the first breaks.
    const interrupted = Promise.allSettled([1, 2].map(() => database.run(sleep, [20])));
    await expect.poll(() => server.execute(`select ${sleeping}`)).toHaveLength(1);
    await rm(certificate);
    await server.execute(`select pg_terminate_backend(pid) ${sleeping}`);
    expect(await interrupted).toEqual(Array(2).fill({ status: "rejected", reason: unavailable }));
    await writeFile(certificate, "");
    expect(await database.run(echo, [1n])).toHaveLength(1);
  });

  it("returns times as dates in any date style of the database", async () => {
    await using german = await createTestDatabase();
    const name = new URL(german.url).pathname.slice(1);
    await query(german.directUrl, `alter database ${name} set datestyle = German`);
    await using database = server.open({ url: german.url });
    const read = (access: "write" | "read") =>
      database.run(sqlOf(access, "select timestamptz '2027-01-31 12:00+01' as at"), []);
    const expected = [{ at: new Date("2027-01-31T11:00:00Z") }];
    expect(await read("write")).toEqual(expected);
    const readOnShared = async () => [await read("read"), database.connections().open];
    // One connection of the pool, and the two shared ones, which do not exist behind a PgBouncer.
    await expect.poll(readOnShared).toEqual([expected, german.url === german.directUrl ? 3 : 1]);
    expect(await read("read")).toEqual(expected);
  });

  it.each([
    ["prepares each statement once for a session and sets its limits", "", 4, "500ms, 450ms", "2s, 1800ms"],
    ["names no statement and sets no limits for a session behind a PgBouncer", "?pgbouncer=true", 0, "0, 0", "0, 0"],
  ])("%s, and gives reads a shorter limit than writes", async (_title, parameters, count, reading, writing) => {
    const url = new URL(parameters, server.directUrl).href;
    await using database = server.open({ poolSize: 1, url, readTimeoutMs: 500, writeTimeoutMs: 2_000 });
    for (let round = 0; round < 2; round++) {
      expect(await database.run(sqlOf("read", limits), [])).toEqual([{ limits: reading }]);
      expect(await database.run(sqlOf("write", limits), [])).toEqual([{ limits: writing }]);
    }
    // Without a PgBouncer, two statements read the limits, one sets them, and one reads the names.
    expect(await database.run(prepared, [])).toHaveLength(count);
    for (const [statement, limitMs] of [[sleepReading, 500] as const, [sleep, 2_000] as const]) {
      const startedAtMs = performance.now();
      await expect(database.run(statement, [5])).rejects.toEqual(late);
      expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(limitMs);
      expect(await database.run(echo, [1n])).toHaveLength(1);
    }
  });

  it("closes a session that refuses a write because it is read-only (25006), and a later write uses a new one", async () => {
    await using database = server.open({ url: server.directUrl });
    const refused = sqlOf("write", "do $$ begin set local transaction_read_only = on; delete from pets; end $$");
    await expect(database.run(refused, [])).rejects.toEqual(unavailable);
    await expect.poll(() => database.connections().open).toBe(0);
    expect(await database.run(echo, [1n])).toHaveLength(1);
  });
});
