// After a failover, a connection may lead to a standby.
import { describeWithProgram, shared } from "@petstore/harness";
import { openPgBouncer, openPostgresServer } from "@petstore/harness/postgres";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../src/database/database.js";
import { migrate } from "../src/database/migrate.js";
import { watchDatabase } from "../src/database/reachability.js";
import { limitedTo, sqlOf, unavailable } from "./database-fixture.js";
import { silentLog } from "./logs.js";

const read = sqlOf("read", "select 1 as one");
const write = sqlOf("write", "update kysely_migration set name = name");

const standby = await shared(openPostgresServer());
await migrate(standby.url);

describe("a standby", () => {
  it("serves no statement until it is promoted", async () => {
    await standby.restartAsStandby();
    const config = { url: standby.url, poolSize: 6, ...limitedTo(5_000) };
    await using database = openDatabase(config, silentLog);
    await using reachability = await watchDatabase(config, database, silentLog);
    expect(reachability.isReachable()).toBe(false);
    for (const statement of [read, write, read]) {
      await expect(database.run(statement, [])).rejects.toEqual(unavailable);
    }
    await expect.poll(() => database.connections(), { timeout: 10_000 }).toMatchObject({ open: 0, waiting: 0 });
    await standby.promote();
    await expect.poll(() => reachability.isReachable(), { timeout: 10_000 }).toBe(true);
    for (const statement of [read, write]) await database.run(statement, []);
    // Each read opens a shared connection, and does not wait for it.
    const openWithReads = async () => {
      await database.run(read, []);
      return database.connections().open;
    };
    await expect.poll(openWithReads, { timeout: 10_000 }).toBeGreaterThan(2);
  });
});

describeWithProgram("pgbouncer", "a standby behind PgBouncer", () => {
  it("serves no statement, although PgBouncer has kept the connections", async () => {
    await using pgbouncer = await openPgBouncer(standby.url);
    const config = { url: pgbouncer.url, directUrl: standby.url, poolSize: 2, ...limitedTo(5_000) };
    await using database = openDatabase(config, silentLog);
    await using reachability = await watchDatabase(config, database, silentLog);
    await database.run(read, []);
    await standby.restartAsStandby();
    const answer = () => database.run(read, []).catch((error: unknown) => error);
    await expect.poll(answer, { timeout: 20_000 }).toEqual(unavailable);
    await expect.poll(reachability.isReachable).toBe(false);
    expect(database.connections().open).toBeGreaterThan(0);
    await standby.promote();
    await expect.poll(answer, { timeout: 20_000 }).toEqual([{ one: 1 }]);
  });
});
