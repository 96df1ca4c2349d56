import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { embeddedPostgresUrl } from "@petstore/embedded-postgres";
import { expect, test } from "vitest";
import {
  emptyDirectory,
  openAlone,
  postmasterPid,
  query,
  serverProcesses,
  startOwner,
  stoppedDirectory,
} from "./test-server.js";

const isRoot = process.getuid?.() === 0;

test("starts over after an interrupted first start", async () => {
  await using directory = await emptyDirectory();
  for (const interruptAfterMs of [0, 100, 300]) {
    await using owner = startOwner(directory.path);
    while (!(await readdir(directory.path).catch((): string[] => [])).some((name) => name.startsWith("cluster"))) {
      await delay(5);
    }
    await delay(interruptAfterMs);
    await owner.kill();
  }
  await using database = (await openAlone(directory.path)).database;
  expect(await query(database.url, "SELECT current_user, current_database()")).toEqual([
    { current_user: "petstore_service", current_database: "petstore" },
  ]);
  expect(await readdir(directory.path)).toEqual(["cluster"]);
});

test("removes what an interrupted first start left and never a complete cluster", async () => {
  await using directory = await stoppedDirectory();
  const first = await openAlone(directory.path);
  await query(first.database.ownerUrl, "CREATE TABLE kept AS SELECT 1 AS id");
  await first.database[Symbol.asyncDispose]();
  await mkdir(join(directory.path, "cluster.new-abandoned"));

  const second = await openAlone(directory.path);
  await using database = second.database;
  expect(second.adopted).toBe(false);
  expect(database.url).toBe(first.database.url);
  expect(await query(database.url, "SELECT id FROM kept")).toEqual([{ id: 1 }]);
  expect(await readdir(directory.path)).toEqual(["cluster"]);
});

test("starts when the number of a server that lost its power belongs to another process", async () => {
  await using directory = await stoppedDirectory();
  const first = await openAlone(directory.path);
  await query(first.database.ownerUrl, "CREATE TABLE kept AS SELECT 1 AS id");
  const pidFile = join(directory.path, "cluster", "data", "postmaster.pid");
  const dead = await postmasterPid(directory.path);
  process.kill(dead, "SIGKILL");
  await first.database.lost;

  // Owned by the server's account, as a process that PostgreSQL takes for another server has to be.
  const account = (await stat(pidFile)).uid;
  const impostor = execFileSync("sh", ["-c", "sleep 30 >/dev/null 2>&1 & echo $!"], {
    encoding: "utf8",
    ...(isRoot ? { uid: account } : {}),
  }).trim();
  await writeFile(pidFile, (await readFile(pidFile, "utf8")).replace(String(dead), impostor));

  await using database = (await openAlone(directory.path)).database;
  process.kill(Number(impostor), "SIGKILL");
  expect(await query(database.url, "SELECT id FROM kept")).toEqual([{ id: 1 }]);
});

test("the password appears in no command line and no environment", async () => {
  await using directory = await emptyDirectory();
  await using database = (await openAlone(directory.path)).database;
  const password = new URL(database.url).password;
  expect((await stat(directory.path)).mode & 0o777).toBe(0o700);
  for (const pid of serverProcesses(await postmasterPid(directory.path))) {
    const visible = execFileSync("ps", ["eww", "-o", "args=", "-p", String(pid)], { encoding: "utf8" });
    expect(visible).not.toContain(password);
  }
});

test("no statement and no value reaches the server's log", async () => {
  await using directory = await stoppedDirectory();
  await using database = (await openAlone(directory.path)).database;
  const statements = ["SELECT 'secret'::int", "CREATE TABLE secret AS SELECT 1 AS id", "SELECT secret", "secret"];
  for (const statement of statements) await query(database.url, statement).catch(() => {});
  const log = await readFile(join(directory.path, "cluster", "server.log"), "utf8");
  expect(log).toContain("ready to accept connections");
  expect(log).not.toContain("secret");
  expect(log).not.toContain(new URL(database.url).password);
});

test("a terminal's Ctrl-C does not reach the server", async () => {
  await using directory = await stoppedDirectory();
  await using _ = (await openAlone(directory.path)).database;
  const session = (pid: number) => execFileSync("ps", ["-o", "sid=", "-p", String(pid)], { encoding: "utf8" }).trim();
  expect(session(await postmasterPid(directory.path))).not.toBe(session(process.pid));
});

test("commits are on the disk before they are acknowledged", async () => {
  await using directory = await stoppedDirectory();
  await using database = (await openAlone(directory.path)).database;
  const settings = await query(
    database.url,
    "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')",
  );
  expect(settings.map(({ setting }) => setting)).toEqual(["on", "on", "on"]);
});

test("the command line finds the running server, and none after its end", async () => {
  await using directory = await stoppedDirectory();
  expect(await embeddedPostgresUrl(join(directory.path, "nothing"))).toBeUndefined();
  const { database } = await openAlone(directory.path);
  expect(await embeddedPostgresUrl(directory.path)).toBe(database.url);
  await database[Symbol.asyncDispose]();
  expect(await embeddedPostgresUrl(directory.path)).toBeUndefined();
});

test("refuses the data of another major version in one line", async () => {
  await using directory = await emptyDirectory();
  await mkdir(join(directory.path, "cluster", "data"), { recursive: true });
  await writeFile(join(directory.path, "cluster", "data", "PG_VERSION"), "17\n");
  await expect(openAlone(directory.path)).rejects.toThrow(
    /^The data was written by PostgreSQL 17 and this program runs 18: choose another directory$/,
  );
});

test("refuses a directory that is a file in one line", async () => {
  await using directory = await emptyDirectory();
  await writeFile(directory.path, "");
  await expect(openAlone(directory.path)).rejects.toThrow(/^The data directory is a file$/);
});

test.runIf(isRoot)("works below a folder that only root can enter", async () => {
  await using closed = await emptyDirectory();
  await mkdir(closed.path, { mode: 0o700 });
  await using database = (await openAlone(join(closed.path, "inner"))).database;
  expect(await query(database.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});
