import { join } from "node:path";
import { describeWithProgram } from "@petstore/harness";
import {
  type InstalledPostgres,
  openInstalledPostgres,
  openServerDirectory,
  query,
  runPostgresProgram,
} from "@petstore/harness/postgres";
import { folderOf, searchPath, startProgram, type TemporaryDirectory } from "@petstore/harness/processes";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { runCommand } from "./run-command.js";

// Each test starts two PostgreSQL.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

describeWithProgram("postgres", "petstore doctor, of the replication,", () => {
  let directory: TemporaryDirectory;
  let primary: InstalledPostgres;

  beforeEach(async () => {
    directory = await openServerDirectory();
    primary = await openInstalledPostgres({ settings: { wal_level: "logical" } });
    await query(primary.url, "create role petstore_service login; grant pg_read_all_data to petstore_service");
    await runCommand("migrate", { DATABASE_URL: primary.url });
  });
  afterEach(async () => {
    await primary[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  it("shows a primary without a standby", async () => {
    const found = expect.stringMatching(/^127\.0\.0\.1:\d+ is the primary, and has no standby$/);
    expect(await replicationOf(primary.url)).toEqual([{ check: "replication", status: "ok", found }]);
  });

  it("shows each standby with its state and lag, and warns if none is synchronous", async () => {
    await using _standby = await startStandby("one");
    const advice = expect.any(String);
    const replication = {
      check: "replication",
      status: "warning",
      found: expect.stringMatching(/ 1 standby, none /),
      advice,
    };
    const standby = {
      check: "standby one",
      status: "ok",
      found: expect.stringMatching(/^async, streaming, \d+ bytes and /),
    };
    // A standby that has just connected has not reported its position.
    await expect.poll(() => replicationOf(primary.url), { timeout: 60_000 }).toEqual([replication, standby]);

    await setSynchronous("one");
    await expect
      .poll(() => replicationOf(primary.url), { timeout: 60_000 })
      .toEqual([
        { check: "replication", status: "ok", found: expect.stringMatching(/ with 1 standby, 1 of them synchronous$/) },
        { ...standby, found: expect.stringMatching(/^sync, streaming, \d+ bytes and \d+\.\d s behind$/) },
      ]);
  });

  it("reports a synchronous standby that is not connected", async () => {
    await setSynchronous("one");
    await expect
      .poll(() => replicationOf(primary.url), { timeout: 60_000 })
      .toMatchObject([
        { check: "replication", status: "fault", found: expect.stringContaining("waits for a synchronous standby") },
      ]);
    await using _other = await startStandby("other");
    expect(await replicationOf(primary.url)).toMatchObject([
      { check: "replication", status: "fault", found: expect.stringContaining("with 1 standby, and waits for a") },
      { check: "standby other", status: "ok" },
    ]);
  });

  it("warns of a standby that is far behind", async () => {
    await using standby = await startStandby("one");
    await query(standby.url, "select pg_wal_replay_pause()");
    await query(primary.url, "create table written (id int)");
    // The lag is a time, and a promotion would have to replay it.
    await expect
      .poll(() => replicationOf(primary.url), { timeout: 120_000, interval: 1_000 })
      .toContainEqual({
        check: "standby one",
        status: "warning",
        found: expect.stringMatching(/^async, streaming, \d+ bytes and 1\d\.\d s behind$/),
        advice: expect.stringContaining("promotion"),
      });
  });

  it("says that a role without pg_monitor cannot see the state of the standbys", async () => {
    await using _standby = await startStandby("one");
    const service = Object.assign(new URL(primary.url), { username: "petstore_service" }).href;
    const found = expect.stringMatching(/ with 1 standby, and petstore_service may not see their state$/);
    const advice = expect.stringContaining("pg_monitor");
    expect(await replicationOf(service)).toEqual([{ check: "replication", status: "warning", found, advice }]);
    await query(primary.url, "grant pg_monitor to petstore_service");
    expect(await replicationOf(service)).toContainEqual(
      expect.objectContaining({ check: "standby one", status: "ok" }),
    );
  });

  it("does not count a logical subscriber as a standby", async () => {
    await query(primary.url, "create publication everything for all tables");
    await query(primary.url, "select pg_create_logical_replication_slot('subscriber', 'pgoutput')");
    const options = ["--option=proto_version=1", "--option=publication_names=everything", "--file=-"];
    await using _subscriber = startProgram({
      name: "pg_recvlogical",
      command: join(folderOf("pg_recvlogical") ?? "", "pg_recvlogical"),
      args: [`--dbname=${primary.url}`, "--slot=subscriber", "--start", ...options],
      environment: { PATH: searchPath() },
    });
    const connected = () => query(primary.url, "select from pg_stat_replication where state = 'streaming'");
    await expect.poll(connected, { timeout: 60_000 }).toHaveLength(1);
    expect(await replicationOf(primary.url)).toMatchObject([{ found: expect.stringContaining("has no standby") }]);
  });

  it("says that the replication is hidden, and still checks the rest", async () => {
    await query(primary.url, "revoke select on pg_stat_replication from public");
    const service = Object.assign(new URL(primary.url), { username: "petstore_service" }).href;
    await query(
      primary.url,
      "revoke pg_read_all_data from petstore_service; grant select on kysely_migration to petstore_service",
    );
    expect(await replicationOf(service)).toMatchObject([
      { check: "replication", status: "warning", found: "petstore_service may not look at it" },
    ]);
    const { printed } = await runCommand("doctor --json", { DATABASE_URL: service });
    expect(JSON.parse(printed)).toContainEqual({ check: "schema", status: "ok", found: "current" });
    await query(primary.url, "grant select on pg_stat_replication, pg_replication_slots to petstore_service");
    expect(await replicationOf(service)).toMatchObject([{ check: "replication", status: "ok" }]);
  });

  it("reports that the address is that of a standby", async () => {
    await using standby = await startStandby("one");
    expect(await replicationOf(standby.url)).toMatchObject([
      {
        check: "replication",
        status: "fault",
        found: expect.stringContaining("is a standby, and the services need the primary"),
      },
    ]);
  });

  /** Resolves when it streams from the primary. */
  async function startStandby(name: string): Promise<InstalledPostgres> {
    const data = join(directory.path, name);
    // The option writes `standby.signal` and the address of the primary.
    const words = ["--write-recovery-conf", "--checkpoint=fast", `--pgdata=${data}`];
    await runPostgresProgram("pg_basebackup", [...words, `--dbname=${primary.url}?application_name=${name}`]);
    const standby = await openInstalledPostgres({ data });
    const streaming = `select from pg_stat_replication where application_name = '${name}' and state = 'streaming'`;
    await expect.poll(() => query(primary.url, streaming), { timeout: 60_000 }).toHaveLength(1);
    return standby;
  }

  async function setSynchronous(name: string): Promise<void> {
    await query(primary.url, `alter system set synchronous_standby_names = '${name}'`);
    await query(primary.url, "select pg_reload_conf()");
  }
});

async function replicationOf(url: string): Promise<unknown[]> {
  const { printed } = await runCommand("doctor --json", { DATABASE_URL: url });
  const findings = JSON.parse(printed) as { readonly check: string }[];
  return findings.filter(({ check }) => check === "replication" || check.startsWith("standby "));
}
