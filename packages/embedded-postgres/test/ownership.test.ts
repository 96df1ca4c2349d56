import { execFileSync } from "node:child_process";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import { openEmbeddedPostgres } from "@petstore/embedded-postgres";
import { expect } from "vitest";
import {
  emptyDirectory,
  openAlone,
  postmasterPid,
  query,
  serverProcesses,
  startOwner,
  stillRunning,
  test,
} from "./test-server.js";

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

test("starts its server again at the same port after it was killed, and owns it", async ({ directory }) => {
  await using database = await openAlone(directory);
  await query(database.ownerUrl, "CREATE TABLE kept AS SELECT 1 AS id");
  process.kill(await postmasterPid(directory), "SIGKILL");
  const owners = "SELECT pid FROM pg_locks WHERE locktype = 'advisory'";
  await expect.poll(() => query(database.url, owners).catch(() => []), { timeout: 30_000 }).toHaveLength(1);
  expect(await openEmbeddedPostgres(directory)).toEqual({ holderPid: process.pid });
  expect(await query(database.url, "SELECT id FROM kept")).toEqual([{ id: 1 }]);
});
