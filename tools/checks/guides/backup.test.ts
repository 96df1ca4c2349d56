// Runs the commands of "Backup and restore" in the operations guide during creates. The servers are of the programs on this
// machine, because pg_dump must not be older than its server, and the embedded PostgreSQL has no such programs.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describeWithProgram } from "@petstore/harness";
import { openInstalledPostgres, openServerDirectory, openSession, postgresPath } from "@petstore/harness/postgres";
import { openTemporaryDirectory, runCommands, startStandaloneStoreIn } from "@petstore/harness/processes";
import { expect, it } from "vitest";
import { standaloneMain } from "../programs.js";
import { codeOf, environmentOf, runAsServer, runBlock, runServerBlock } from "./backup-commands.js";
import { duringCreates, expectRestored } from "./store-with-creates.js";

describeWithProgram("postgres", "every create that was acknowledged before the backup is restored", () => {
  it.each([
    { backup: "dump", run: runBlock, restores: ["roles", "restore"] },
    { backup: "compose-dump", run: runBlock, restores: ["roles", "compose-restore"] },
    { backup: "base-backup", run: runServerBlock, files: "base-restore", restores: [] },
  ])("from a $backup", async ({ backup, run, files, restores }) => {
    await using directory = await openServerDirectory();
    const folder = directory.path;
    let kept = 0;
    const lostServer = await openInstalledPostgres();
    const clients = await duringCreates({ server: lostServer, folder }, async ({ creates, createMore }) => {
      await createMore(100);
      kept = creates.length;
      await run(backup, { server: lostServer, folder });
      await createMore(100);
    });
    await lostServer[Symbol.asyncDispose]();
    if (files !== undefined) await run(files, { server: lostServer, folder });

    await using server = await openInstalledPostgres(files === undefined ? {} : { data: join(folder, "data") });
    for (const mark of [...restores, "identifiers"]) await runBlock(mark, { server, folder });
    await expectRestored({ server, folder }, clients, kept);
    // As before the backup, the services may not change the audit log.
    await using session = await openSession(environmentOf({ server, folder }).DATABASE_URL);
    await expect(session.query("delete from audit_log")).rejects.toMatchObject({ code: "42501" });
  });

  it("from a base backup and the WAL since then, and also later creates", async () => {
    await using directory = await openServerDirectory();
    const folder = directory.path;
    let kept = 0;
    const lostServer = await openInstalledPostgres();
    const archive = { server: lostServer, folder };
    const stopped = new AbortController();
    let receiving: Promise<void> | undefined;
    const clients = await duringCreates(archive, async ({ creates, createMore }) => {
      const [makeFolder = "", createSlot = "", receive = ""] = (await codeOf("wal")).split("\n");
      await runAsServer(`${makeFolder} && ${createSlot}`, archive);
      // The shell becomes the program, so that the signal ends it.
      receiving = runAsServer(`exec ${receive}`, archive, stopped.signal);
      receiving.catch(() => {});
      await runServerBlock("base-backup", archive);
      await createMore(100);
      await using session = await openSession(lostServer.url);
      kept = creates.length;
      const [written] = await session.query("select pg_current_wal_lsn() as lsn");
      const progress = `select state, flush_lsn >= '${written?.lsn}' as "isReceived" from pg_stat_replication`;
      const isReceived = expect
        .poll(() => session.query(progress), { timeout: 120_000 })
        .toEqual([{ state: "streaming", isReceived: true }]);
      // If the receiver ends early, its message is the failure.
      await Promise.race([isReceived, receiving]);
    });
    await lostServer[Symbol.asyncDispose]();
    stopped.abort();
    await receiving?.catch(() => {});
    for (const mark of ["base-restore", "wal-restore"]) await runServerBlock(mark, archive);

    await using server = await openInstalledPostgres({ data: join(folder, "data") });
    await using session = await openSession(server.url);
    const recovery = () => session.query("select pg_is_in_recovery() as running");
    await expect.poll(recovery, { timeout: 60_000 }).toEqual([{ running: false }]);
    await runBlock("identifiers", { server, folder });
    await expectRestored({ server, folder }, clients, kept);
  });
});

it("a copy of the stopped store of npm start has every pet and key", async () => {
  await using directory = await openTemporaryDirectory();
  const copy = async (from: string, to: string) => {
    const code = (await codeOf("copy")).replace(".petstore ~/petstore-private/copy", `${from} ${to}`);
    await runCommands(`cd ${directory.path}\n${code}`, { PATH: postgresPath });
  };
  const path = join(directory.path, "store");
  const first = await startStandaloneStoreIn(standaloneMain, path);
  const create = { method: "POST", body: '{"name":"Rex","categoryId":1}' };
  const headers = { Authorization: `Bearer ${first.demoKey}`, "Content-Type": "application/json" };
  const created = await fetch(`${first.origin}/v1/pets`, { ...create, headers });
  expect(created.status).toBe(201);
  await first.stop();
  await copy("store", "copy");
  await rm(path, { recursive: true });
  await copy("copy", "store");

  await using restored = await startStandaloneStoreIn(standaloneMain, path);
  const listed = await fetch(`${restored.origin}/v1/pets`, { headers });
  expect(await listed.json()).toEqual([await created.json()]);
});
