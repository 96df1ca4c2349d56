import { openEmbeddedPostgres } from "@petstore/embedded-postgres";
import { expect, test } from "vitest";
import {
  emptyDirectory,
  openAlone,
  postmasterPid,
  query,
  serverProcesses,
  startOwner,
  stillRunning,
  stoppedDirectory,
} from "./test-server.js";

test("a second open refuses within a second and names the holder", async () => {
  await using directory = await stoppedDirectory();
  await using owner = startOwner(directory.path);
  expect(await owner.next()).toMatchObject({ kind: "opened", adopted: false });

  const before = performance.now();
  const second = await openEmbeddedPostgres({ directory: directory.path });
  expect(performance.now() - before).toBeLessThan(1_000);
  expect(second).toEqual({ kind: "in-use", holderPid: owner.process.pid });
});

test("of concurrent first opens exactly one owns the directory", async () => {
  await using directory = await emptyDirectory();
  await using one = startOwner(directory.path);
  await using two = startOwner(directory.path);
  await using three = startOwner(directory.path);
  const owners = [one, two, three];

  const outcomes = await Promise.all(owners.map((owner) => owner.next()));
  const winner = outcomes.findIndex((outcome) => outcome?.kind === "opened");
  const refused = outcomes.filter((_, index) => index !== winner);
  const inUse = { kind: "in-use", holderPid: owners[winner]?.process.pid };
  expect(refused).toEqual([inUse, inUse]);
  expect(await query(String(outcomes[winner]?.url), "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

test("adopts the server of a killed owner with every acknowledged row", async () => {
  await using directory = await stoppedDirectory();
  let acknowledged = 0;
  for (let round = 0; round < 5; round += 1) {
    await using owner = startOwner(directory.path, "insert");
    expect(await owner.next()).toMatchObject({ kind: "opened", adopted: round > 0 });
    for (let row = 0; row < 50; row += 1) acknowledged = Number((await owner.next())?.acknowledged);
    await owner.kill();
  }

  const before = performance.now();
  const { adopted, database } = await openAlone(directory.path);
  expect(performance.now() - before).toBeLessThan(1_000);
  await using _ = database;
  expect(adopted).toBe(true);
  const [written] = await query(database.ownerUrl, "SELECT count(*)::int, max(id) FROM written");
  expect(written?.count).toBe(written?.max);
  expect(written?.max).toBeGreaterThanOrEqual(acknowledged);
});

test("an open during the owner's stop gets a server that lives", async () => {
  await using directory = await stoppedDirectory();
  await using owner = startOwner(directory.path);
  await owner.next();
  owner.process.stdin?.end();

  let opened = await openEmbeddedPostgres({ directory: directory.path });
  while (opened.kind === "in-use") opened = await openEmbeddedPostgres({ directory: directory.path });
  await using database = opened.database;
  expect(await owner.next()).toEqual({ kind: "disposed" });
  expect(await query(database.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

test("says so when the server dies, and starts again at the next open", async () => {
  await using directory = await stoppedDirectory();
  const first = await openAlone(directory.path);
  await query(first.database.ownerUrl, "CREATE TABLE kept AS SELECT 1 AS id");
  process.kill(await postmasterPid(directory.path), "SIGKILL");
  expect((await first.database.lost).message).toBe("The embedded PostgreSQL stopped");

  const second = await openAlone(directory.path);
  await using database = second.database;
  await first.database[Symbol.asyncDispose]();
  expect(second.adopted).toBe(false);
  expect(await query(database.url, "SELECT id FROM kept")).toEqual([{ id: 1 }]);
});

test("still owns the server after one of its processes crashed", async () => {
  await using directory = await stoppedDirectory();
  await using database = (await openAlone(directory.path)).database;
  const victim = query(database.url, "SELECT pg_sleep(60)").catch((error: unknown) => error);
  let backend = 0;
  while (backend === 0) {
    const [row] = await query(database.url, "SELECT pid FROM pg_stat_activity WHERE query LIKE '%sleep(60)'");
    if (row !== undefined && row.pid !== undefined) backend = Number(row.pid);
  }
  process.kill(backend, "SIGKILL");
  expect(await victim).toBeInstanceOf(Error);

  let locks: unknown;
  while (locks !== 1) {
    const rows = await query(database.url, "SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory'").catch(
      () => [],
    );
    locks = rows[0]?.count;
  }
  const second = await openEmbeddedPostgres({ directory: directory.path });
  expect(second).toEqual({ kind: "in-use", holderPid: process.pid });
});

test("disposing leaves no process behind, within 5 s, under an open transaction, twice", async () => {
  await using directory = await stoppedDirectory();
  const { database } = await openAlone(directory.path);
  const open = query(database.url, "BEGIN; SELECT pg_sleep(60)").catch(() => "cut");
  const postmaster = await postmasterPid(directory.path);
  const processes = serverProcesses(postmaster);
  expect(processes.length).toBeGreaterThan(3);

  const before = performance.now();
  await Promise.all([database[Symbol.asyncDispose](), database[Symbol.asyncDispose]()]);
  expect(performance.now() - before).toBeLessThan(5_000);
  expect(await open).toBe("cut");
  expect(stillRunning(processes)).toEqual([]);
});

test("disposing an adopted server leaves no process behind", async () => {
  await using directory = await stoppedDirectory();
  await using owner = startOwner(directory.path);
  await owner.next();
  await owner.kill();
  const { adopted, database } = await openAlone(directory.path);
  const processes = serverProcesses(await postmasterPid(directory.path));
  await database[Symbol.asyncDispose]();
  expect(adopted).toBe(true);
  expect(stillRunning(processes)).toEqual([]);
});
