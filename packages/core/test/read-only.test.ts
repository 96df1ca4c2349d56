// After a failover, a connection may be one to a standby, or to a session that refuses writes.
import { describeWithProgram, shared } from "@petstore/harness";
import { openPgBouncer, openPostgresServer } from "@petstore/harness/postgres";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../src/database/database.js";
import { sqlState } from "../src/database/database-errors.js";
import { migrate } from "../src/database/migrate.js";
import { watchDatabase } from "../src/database/reachability.js";
import { limitedTo, openSharedDatabase, sqlOf, unavailable } from "./database-fixture.js";
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

describe("a session that is read-only (25006)", async () => {
  const server = await openSharedDatabase();

  function setReadOnly(value: "on" | "off"): Promise<unknown> {
    return server.execute(
      "set default_transaction_read_only = off",
      `do $$ begin
        execute format('alter database %I set default_transaction_read_only = ${value}', current_database());
      end $$`,
    );
  }

  it("is closed when it refuses a write, and a later write uses a new one", async () => {
    await setReadOnly("on");
    await using database = server.open({ url: server.directUrl });
    const refused = await database.run(write, []).catch((error: unknown) => error);
    expect(refused).toEqual(unavailable);
    expect(sqlState(refused)).toBe("25006");
    await expect.poll(() => database.connections().open).toBe(0);
    await setReadOnly("off");
    await database.run(write, []);
  });
});
