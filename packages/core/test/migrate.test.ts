import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { createTestDatabase } from "@petstore/harness";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { migrate, pendingMigrations } from "../src/index.js";

const everyMigration = ["0001-first-tables", "0002-keys-that-change"];

describe("migrations", () => {
  it("run once when four processes migrate an empty database at once", async () => {
    await using database = await createTestDatabase();
    const runs = await Promise.all([1, 2, 3, 4].map(() => migrate(database.url)));
    expect(runs.flat()).toEqual(everyMigration);
  });

  it("find nothing to do the second time", async () => {
    await using database = await createTestDatabase();
    await migrate(database.url);
    expect(await migrate(database.url)).toEqual([]);
  });

  it("give up in one clear line when another migrator keeps the lock", async () => {
    await using database = await createTestDatabase();
    const other = new Client({ connectionString: database.directUrl });
    await other.connect();
    await other.query("select pg_advisory_lock(7302030512)");
    await expect(migrate(database.url, { lockWaitMs: 200 })).rejects.toThrow(/^Another process has been migrating/);
    await other.end();
    expect(await migrate(database.url, { lockWaitMs: 200 })).toEqual(everyMigration);
  });

  it("wait no longer than their limit for a process that stopped in the middle of them", {
    timeout: 20_000,
  }, async () => {
    await using database = await createTestDatabase();
    const obstacle = new Client({ connectionString: database.directUrl });
    await obstacle.connect();
    await obstacle.query("begin");
    await obstacle.query("create type pet_status as enum ()");
    using stopped = migrateElsewhere(database.url, 2_000);
    while (!(await isWaiting(database.directUrl))) await sleep(20);
    process.kill(stopped.pid, "SIGSTOP");
    // Its statement ends now, but the stopped process does not notice.
    await obstacle.query("rollback");
    await obstacle.end();
    const startedAtMs = performance.now();
    expect(await migrate(database.url, { lockWaitMs: 2_000 })).toEqual(everyMigration);
    expect(performance.now() - startedAtMs).toBeLessThan(2_000);
  });

  it("are listed while they are missing, and the list changes nothing", async () => {
    await using database = await createTestDatabase();
    for (let look = 0; look < 2; look++) expect(await pendingMigrations(database.url)).toEqual(everyMigration);
    await migrate(database.url);
    expect(await pendingMigrations(database.url)).toEqual([]);
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

function migrateElsewhere(url: string, lockWaitMs: number): Disposable & { readonly pid: number } {
  const core = new URL("../dist/index.js", import.meta.url).href;
  const program = `import { migrate, pendingMigrations } from "${core}"; await migrate(process.argv[1], { lockWaitMs: ${lockWaitMs} });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program, url], { stdio: "ignore" });
  return { pid: child.pid ?? 0, [Symbol.dispose]: () => void child.kill("SIGKILL") };
}

/** Opens a connection for each look: pg_stat_activity does not change within a transaction. */
async function isWaiting(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rowCount } = await client.query(
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  await client.end();
  return rowCount !== 0;
}
