// A host has vanished, or a firewall has forgotten a connection: nothing answers the packets we send.
import { shared } from "@petstore/harness";
import { openFaultProxy } from "@petstore/harness/network";
import { describe, expect, it } from "vitest";
import type { Database } from "../src/database/database.js";
import { watchDatabase } from "../src/database/reachability.js";
import { late, openSharedDatabase, sqlOf } from "./database-fixture.js";
import { silentLog } from "./logs.js";

const read = sqlOf("read", "select 1 as one");
const write = sqlOf("write", "select 1 as one");
const sleepLong = sqlOf("write", "select pg_sleep(4)");

const server = await openSharedDatabase();
const proxy = await shared(openFaultProxy({ url: server.directUrl }));

/** Two shared connections and four of the pool. */
async function openAll(): Promise<Database> {
  const limits = { acquireTimeoutMs: 20_000, readTimeoutMs: 2_000, writeTimeoutMs: 2_000 };
  const database = server.open({ url: proxy.url, poolSize: 6, ...limits });
  const open = async () => {
    await Promise.all(Array.from({ length: 4 }, () => [database.run(read, []), database.run(write, [])]).flat());
    return database.connections().open;
  };
  await expect.poll(open).toBe(6);
  return database;
}

describe("a database that is silent", () => {
  it("costs one timeout: all other idle connections are replaced", async () => {
    await using database = await openAll();
    await proxy.blackHole();
    await expect(database.run(write, [])).rejects.toEqual(late);
    await expect.poll(() => database.connections()).toMatchObject({ open: 0, idle: 0 });
    await proxy.restore();
    await Promise.all(Array.from({ length: 20 }, (_, index) => database.run(index % 2 ? read : write, [])));
  });

  it("does not keep idle connections open after the end", async () => {
    const database = await openAll();
    await proxy.blackHole();
    await database[Symbol.asyncDispose]();
    await proxy.restore();
  });

  it("does not delay the end of busy connections beyond the limit of their statements", async () => {
    const database = await openAll();
    await proxy.blackHole();
    const failing = Promise.all([read, write].map((of) => expect(database.run(of, [])).rejects.toEqual(late)));
    await expect.poll(() => database.connections(), { interval: 10 }).toMatchObject({ open: 6, idle: 4 });
    await database[Symbol.asyncDispose]();
    await failing;
    await proxy.restore();
  });
});

it("is reachable while its pool has no free connection, and unreachable while it is silent", async () => {
  const limits = { acquireTimeoutMs: 1_000, readTimeoutMs: 2_000, writeTimeoutMs: 20_000 };
  const config = { url: proxy.url, poolSize: 1, ...limits };
  await using database = server.open(config);
  await using reachability = await watchDatabase(config, database, silentLog);
  const sleeping = database.run(sleepLong, []);
  await expect(database.run(write, [])).rejects.toEqual(late);
  await sleeping;
  expect(reachability.isReachable()).toBe(true);
  await proxy.blackHole();
  await expect.poll(reachability.isReachable).toBe(false);
  await proxy.restore();
  await expect.poll(reachability.isReachable).toBe(true);
});
