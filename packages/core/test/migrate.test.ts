import { createTestDatabase } from "@petstore/testing";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { migrate } from "../src/index.js";

describe("migrations", () => {
  it("run once when four processes migrate an empty database at once", async () => {
    await using database = await createTestDatabase();
    const runs = await Promise.all([1, 2, 3, 4].map(() => migrate(database.url)));
    expect(runs.flat()).toEqual(["0001-first-tables"]);
  });

  it("find nothing to do the second time", async () => {
    await using database = await createTestDatabase();
    await migrate(database.url);
    expect(await migrate(database.url)).toEqual([]);
  });

  it("give up in one clear line when another migrator keeps the lock", async () => {
    await using database = await createTestDatabase();
    const other = new Client({ connectionString: database.url });
    await other.connect();
    await other.query("select pg_advisory_lock(7302030512)");
    await expect(migrate(database.url, { lockWaitMs: 200 })).rejects.toThrow(/^Another process has been migrating/);
    await other.end();
    expect(await migrate(database.url, { lockWaitMs: 200 })).toHaveLength(1);
  });

  it("change nothing when one of them fails", async () => {
    await using database = await createTestDatabase();
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query("create table accounts (id bigint)");
    await expect(migrate(database.url)).rejects.toThrow();
    const { rows } = await client.query("select from pg_class where relname = 'pets'");
    await client.end();
    expect(rows).toHaveLength(0);
  });
});
