import { execFileSync } from "node:child_process";
import { appendFile, open, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openEmbeddedPostgres } from "@petstore/embedded-postgres";
import { expect } from "vitest";
import {
  administratorUrl,
  emptyDirectory,
  openAlone,
  postmasterPid,
  query,
  serverProcesses,
  startOwner,
  stillRunning,
  test,
} from "./test-server.js";

const patient = { timeout: 30_000 };

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
  owner.process.stdin?.end();

  let opened = await openEmbeddedPostgres(directory);
  while ("holderPid" in opened) opened = await openEmbeddedPostgres(directory);
  await using database = opened;
  expect(await owner.next()).toEqual({ isDisposed: true });
  expect(await query(database.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

test.runIf(process.platform !== "win32")(
  "a failed start leaves the server of the next owner alone",
  async ({ directory }) => {
    const file = join(directory, "cluster", "owner-password");
    await rename(file, `${file}.kept`);
    execFileSync("mkfifo", [file]);
    const failing = openAlone(directory);
    // Resolves when the start reads the file. Until the pipe is closed, it waits as on a slow disk.
    const pipe = await open(file, "w");
    process.kill(await postmasterPid(directory), "SIGKILL");
    await rename(`${file}.kept`, file);
    await using owner = startOwner(directory);
    expect(await owner.next()).toHaveProperty("url");
    const started = await postmasterPid(directory);

    await pipe.close();
    await expect(failing).rejects.toThrow();
    expect(stillRunning([started])).toEqual([started]);
  },
);

test("starts its server again at the same port after it was killed, and owns it", async ({ directory, database }) => {
  await query(database.ownerUrl, "CREATE TABLE kept AS SELECT 1 AS id");
  process.kill(await postmasterPid(directory), "SIGKILL");
  await expect.poll(() => ownerBackend(database.url).catch(() => undefined), patient).toBeDefined();
  expect(await openEmbeddedPostgres(directory)).toEqual({ holderPid: process.pid });
  expect(await query(database.url, "SELECT id FROM kept")).toEqual([{ id: 1 }]);
});

test("the disposal stops a server that still recovers", patient, async ({ directory, database }) => {
  const killed = await postmasterPid(directory);
  // A standby without a primary, whose recovery never ends.
  await writeFile(join(directory, "cluster", "data", "standby.signal"), "");
  await appendFile(join(directory, "cluster", "data", "postgresql.auto.conf"), "hot_standby = off\n");
  process.kill(killed, "SIGKILL");
  let pid = killed;
  while (pid === killed || Number.isNaN(pid)) pid = await postmasterPid(directory).catch(() => Number.NaN);

  await database[Symbol.asyncDispose]();
  expect(stillRunning([pid])).toEqual([]);
});

test("waits until PostgreSQL has noticed that the owner lost its connection", async ({ directory, database }) => {
  const url = Object.assign(new URL(await administratorUrl(directory)), { pathname: "postgres" });
  // A session with the name of the owner, as PostgreSQL shows a lost connection. It gets the lock when the owner loses it.
  url.searchParams.set("application_name", `petstore owner ${process.pid}`);
  const unnoticed = query(url.href, "SELECT pg_advisory_lock(1); SELECT pg_sleep(1)");
  const waiting = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
  await expect.poll(() => query(database.url, waiting), patient).toHaveLength(1);
  const granted = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted";
  await query(url.href, granted);
  await unnoticed;
  await expect.poll(() => ownerBackend(database.url).catch(() => undefined), patient).toBeDefined();
});

test("owns its server after each crash, and gives it up after the sixth within a minute", async ({ directory }) => {
  let nowMs = 0;
  await using database = await openAlone(directory, () => nowMs);
  for (const ms of [0, 1, 2, 3, 4, 60_000]) {
    nowMs = ms;
    const killed = await killOwnerBackend(database.url);
    await expect.poll(() => ownerBackend(database.url).catch(() => killed), patient).not.toBe(killed);
  }
  await killOwnerBackend(database.url);
  expect((await database.lost).message).toBe(
    `PostgreSQL ended 6 times within a minute: see ${join(directory, "cluster", "server.log")}`,
  );
});

/** Kills the process that serves the owner's connection. PostgreSQL then ends every connection and recovers. */
async function killOwnerBackend(url: string): Promise<number> {
  const pid = await ownerBackend(url);
  process.kill(pid, "SIGKILL");
  return pid;
}

/** Rejects while the server recovers or has no owner. */
async function ownerBackend(url: string): Promise<number> {
  const [row] = await query(url, "SELECT pid FROM pg_locks WHERE locktype = 'advisory'");
  if (row === undefined) throw new Error("The server has no owner");
  return Number(row.pid);
}
