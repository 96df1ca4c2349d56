import { execFileSync } from "node:child_process";
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { embeddedPostgresUrl, openEmbeddedPostgres } from "@petstore/embedded-postgres";
import { expect } from "vitest";
import { explainOutput, runAs } from "../src/account.js";
import { findBinaries } from "../src/binaries.js";
import {
  emptyDirectory,
  openAlone,
  openForFile,
  postmasterPid,
  query,
  serverProcesses,
  startOwner,
  stillRunning,
  test,
} from "./test-server.js";

const isRoot = process.getuid?.() === 0;
const running = await openForFile();

test("starts over after an interrupted first start", async () => {
  await using directory = await emptyDirectory();
  for (const interruptAfterMs of [0, 200]) {
    await using owner = startOwner(directory.path);
    while (!(await readdir(directory.path).catch((): string[] => [])).some((name) => name.startsWith("cluster"))) {
      await delay(5);
    }
    await delay(interruptAfterMs);
    await owner.kill();
  }
  await using database = await openAlone(directory.path);
  expect(await query(database.url, "SELECT current_user, current_database()")).toEqual([
    { current_user: "petstore_service", current_database: "petstore" },
  ]);
  expect(await readdir(directory.path)).toEqual(["cluster"]);
});

test("starts a server that was killed, although its number belongs to another process", async ({ directory }) => {
  const pidFile = join(directory, "cluster", "data", "postmaster.pid");
  await using owner = startOwner(directory);
  await owner.next();
  const dead = await postmasterPid(directory);
  await owner.kill();
  process.kill(dead, "SIGKILL");
  while (stillRunning([dead]).length > 0) await delay(5);

  // Owned by the server's account, as a process that PostgreSQL takes for another server has to be.
  const account = (await stat(pidFile)).uid;
  const impostor = execFileSync("sh", ["-c", "sleep 30 >/dev/null 2>&1 & echo $!"], {
    encoding: "utf8",
    ...(isRoot ? { uid: account } : {}),
  }).trim();
  await writeFile(pidFile, (await readFile(pidFile, "utf8")).replace(String(dead), impostor));

  await using database = await openAlone(directory);
  process.kill(Number(impostor), "SIGKILL");
  expect(await query(database.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

test("of concurrent first opens exactly one owns the directory", async () => {
  await using directory = await emptyDirectory();
  await using one = startOwner(directory.path);
  await using two = startOwner(directory.path);
  await using three = startOwner(directory.path);
  const owners = [one, two, three];

  const outcomes = await Promise.all(owners.map((owner) => owner.next()));
  const winner = outcomes.findIndex((outcome) => outcome?.url !== undefined);
  const refused = outcomes.filter((_, index) => index !== winner);
  const inUse = { holderPid: owners[winner]?.process.pid };
  expect(refused).toEqual([inUse, inUse]);
  expect(await query(String(outcomes[winner]?.url), "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

test("adopts the server of a killed owner, and can stop it", async ({ directory }) => {
  await using owner = startOwner(directory);
  await owner.next();
  await owner.kill();
  const left = await postmasterPid(directory);
  const database = await openAlone(directory);
  expect(await postmasterPid(directory)).toBe(left);
  const processes = serverProcesses(left);
  await database[Symbol.asyncDispose]();
  expect(stillRunning(processes)).toEqual([]);
});

test("an open during the owner's stop gets a server that lives", async ({ directory }) => {
  await using owner = startOwner(directory);
  await owner.next();
  owner.process.send("dispose");

  let opened = await openEmbeddedPostgres(directory);
  while ("holderPid" in opened) opened = await openEmbeddedPostgres(directory);
  await using database = opened;
  expect(await owner.next()).toEqual({ isDisposed: true });
  expect(await query(database.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

test("a failed start leaves the server of the next owner alone", async ({ directory }) => {
  const file = join(directory, "cluster", "owner-password");
  await rename(file, `${file}.kept`);
  execFileSync("mkfifo", [file]);
  // The start fails as soon as the pipe is closed, before a later line could take its error.
  const failure = openAlone(directory).then(
    () => undefined,
    (error: unknown) => error,
  );
  // Resolves when the start reads the file. Until the pipe is closed, it waits as on a slow disk.
  const pipe = await open(file, "w");
  process.kill(await postmasterPid(directory), "SIGKILL");
  await rename(`${file}.kept`, file);
  await using owner = startOwner(directory);
  expect(await owner.next()).toHaveProperty("url");
  const started = await postmasterPid(directory);

  await pipe.close();
  expect(await failure).toBeInstanceOf(Error);
  expect(stillRunning([started])).toEqual([started]);
});

test("starts its server again at the same port after it was killed, and owns it", async ({ directory }) => {
  await using database = await openAlone(directory);
  await query(database.ownerUrl, "CREATE TABLE kept AS SELECT 1 AS id");
  process.kill(await postmasterPid(directory), "SIGKILL");
  const owners = "SELECT pid FROM pg_locks WHERE locktype = 'advisory'";
  await expect.poll(() => query(database.url, owners).catch(() => []), { timeout: 30_000 }).toHaveLength(1);
  expect(await openEmbeddedPostgres(directory)).toEqual({ holderPid: process.pid });
  expect(await query(database.url, "SELECT id FROM kept")).toEqual([{ id: 1 }]);
});

test("the password appears in no command line and no environment", async () => {
  expect((await stat(running.directory)).mode & 0o777).toBe(0o700);
  for (const pid of serverProcesses(await postmasterPid(running.directory))) {
    const visible = execFileSync("ps", ["eww", "-o", "args=", "-p", String(pid)], { encoding: "utf8" });
    expect(visible).not.toContain(new URL(running.url).password);
  }
});

test("no statement and no value reaches the server's log", async () => {
  for (const [statement, code] of [
    ["SELECT 'secret'::int", "22P02"],
    ["CREATE TABLE secret AS SELECT 1 AS id", "42501"],
    ["SELECT secret", "42703"],
    ["secret", "42601"],
  ] as const) {
    await expect(query(running.url, statement)).rejects.toMatchObject({ code });
  }
  const log = await readFile(join(running.directory, "cluster", "server.log"), "utf8");
  expect(log).toContain("ready to accept connections");
  expect(log).not.toContain("secret");
  expect(log).not.toContain(new URL(running.url).password);
});

test("commits are on the disk before they are acknowledged", async () => {
  const names = "'fsync', 'full_page_writes', 'synchronous_commit'";
  const settings = await query(running.url, `SELECT setting FROM pg_settings WHERE name IN (${names})`);
  expect(settings).toEqual([{ setting: "on" }, { setting: "on" }, { setting: "on" }]);
});

test("the command line finds the server until it is disposed, which leaves no process", async ({ directory }) => {
  expect(await embeddedPostgresUrl(join(directory, "nothing"))).toBeUndefined();
  const database = await openAlone(directory);
  expect(await embeddedPostgresUrl(directory)).toBe(database.url);
  const open = query(database.url, "BEGIN; SELECT pg_sleep(60)").catch(() => "cut");
  const processes = serverProcesses(await postmasterPid(directory));
  expect(processes.length).toBeGreaterThan(3);

  // Twice, under an open transaction.
  await Promise.all([database[Symbol.asyncDispose](), database[Symbol.asyncDispose]()]);
  expect(await open).toBe("cut");
  expect(stillRunning(processes)).toEqual([]);
  expect(await embeddedPostgresUrl(directory)).toBeUndefined();
});

test("refuses open, old and missing data, and a directory that is a file, in one line", async ({ directory }) => {
  const data = join(directory, "cluster", "data");
  await chmod(data, 0o755);
  await expect(openAlone(directory)).rejects.toThrow(
    `postgres failed: data directory "${data}" has invalid permissions`,
  );
  await chmod(data, 0o700);
  const versionFile = join(data, "PG_VERSION");
  await writeFile(versionFile, "17\n");
  await expect(openAlone(directory)).rejects.toThrow(/^postgres failed: database files are incompatible with server$/);
  await expect(openAlone(versionFile)).rejects.toThrow(/^EEXIST: file already exists, mkdir '.*PG_VERSION'$/);
  await rm(data, { recursive: true });
  await expect(openAlone(directory)).rejects.toThrow(/^ENOENT: no such file or directory, access '.*data'$/);
});

test.runIf(isRoot)("a user id without an entry in /etc/passwd is refused with the cure", async () => {
  const account = { uid: 12_345, gid: 12_345 };
  const { output } = await runAs(account, join(await findBinaries(account), "initdb"), ["--pgdata=/nowhere"]);
  expect(explainOutput("initdb", "/nowhere", output).message).toMatch(
    /^initdb failed: .*effective user ID 12345: .* Add an entry for this user id to \/etc\/passwd$/,
  );
});

test.runIf(process.platform === "linux")("works below a closed folder, with a long name and a line break", async () => {
  await using closed = await emptyDirectory();
  // If root runs the tests, the account of the server cannot enter this folder.
  await mkdir(closed.path, { mode: 0o700 });
  const long = Array.from({ length: 6 }, () => "d".repeat(200));
  await using database = await openAlone(join(closed.path, ...long, "line\nbreak"));
  expect(await query(database.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});
