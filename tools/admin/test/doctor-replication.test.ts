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
import { finding, runCommand } from "./run-command.js";

// Each test starts two PostgreSQL.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 120_000 } } });

describeWithProgram("postgres", "petstore doctor, of the replication,", () => {
  let directory: TemporaryDirectory;
  let primary: InstalledPostgres;
  let service: string;

  beforeEach(async () => {
    directory = await openServerDirectory();
    primary = await openInstalledPostgres();
    await query(primary.url, "create role petstore_service login; grant pg_read_all_data to petstore_service");
    await runCommand("migrate", { DATABASE_URL: primary.url });
    service = Object.assign(new URL(primary.url), { username: "petstore_service" }).href;
  });
  afterEach(async () => {
    await primary[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  it("shows each standby with its state and lag, and warns if none is synchronous or one is far behind", async () => {
    const alone = /^127\.0\.0\.1:\d+ is the primary, and has no standby$/;
    expect(await replicationOf(primary.url)).toEqual([finding("ok", "replication", alone)]);
    await using standby = await startStandby("one");
    expect(await replicationOf(standby.url)).toEqual([
      finding("fault", "replication", /is a standby, and the services/),
    ]);
    // A standby that has just connected has not reported its position.
    await expect
      .poll(() => replicationOf(primary.url))
      .toEqual([
        finding("warning", "replication", / 1 standby, none /),
        finding("ok", "standby one", /^async, streaming, \d+ bytes and /),
      ]);

    await setSynchronous("one");
    await expect
      .poll(() => replicationOf(primary.url))
      .toEqual([
        finding("ok", "replication", / with 1 standby, 1 of them synchronous$/),
        finding("ok", "standby one", /^sync, streaming, \d+ bytes and \d+\.\d s behind$/),
      ]);

    await query(standby.url, "select pg_wal_replay_pause()");
    await query(primary.url, "create table written (id int)");
    // The lag is a time, and a promotion would have to replay it.
    await expect
      .poll(() => replicationOf(primary.url), { interval: 1_000 })
      .toContainEqual(finding("warning", "standby one", /^sync, streaming, \d+ bytes and 1\d\.\d s behind$/));
  });

  it("reports a synchronous standby that is not connected", async () => {
    await setSynchronous("one");
    const waits = finding("fault", "replication", /waits for a synchronous standby/);
    await expect.poll(() => replicationOf(primary.url)).toEqual([waits]);
    await using _other = await startStandby("other");
    const waitsWithOther = finding("fault", "replication", /with 1 standby, and waits for a/);
    expect(await replicationOf(primary.url)).toEqual([waitsWithOther, finding("ok", "standby other")]);
  });

  it("says what a role may not see, and still checks the rest", async () => {
    await using _standby = await startStandby("one");
    const stateless = / with 1 standby, and petstore_service may not see their state$/;
    expect(await replicationOf(service)).toEqual([finding("warning", "replication", stateless)]);
    await query(primary.url, "grant pg_monitor to petstore_service");
    expect(await replicationOf(service)).toContainEqual(finding("ok", "standby one"));

    await query(primary.url, "revoke select on pg_stat_replication from public");
    await query(primary.url, "revoke pg_monitor, pg_read_all_data from petstore_service");
    await query(primary.url, "grant select on kysely_migration to petstore_service");
    const hidden = /^petstore_service may not look at it$/;
    expect(await replicationOf(service)).toEqual([finding("warning", "replication", hidden)]);
    const { printed } = await runCommand("doctor --json", { DATABASE_URL: service });
    expect(JSON.parse(printed)).toContainEqual(finding("ok", "schema", /^current$/));
    await query(primary.url, "grant select on pg_stat_replication, pg_replication_slots to petstore_service");
    expect(await replicationOf(service)).toEqual([finding("warning", "replication", stateless)]);
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
    await expect.poll(connected).toHaveLength(1);
    expect(await replicationOf(primary.url)).toEqual([finding("ok", "replication", /has no standby/)]);
  });

  /** Resolves when it streams from the primary. */
  async function startStandby(name: string): Promise<InstalledPostgres> {
    const data = join(directory.path, name);
    // The option writes `standby.signal` and the address of the primary.
    const words = ["--write-recovery-conf", "--checkpoint=fast", `--pgdata=${data}`];
    await runPostgresProgram("pg_basebackup", [...words, `--dbname=${primary.url}?application_name=${name}`]);
    const standby = await openInstalledPostgres({ data });
    const streaming = `select from pg_stat_replication where application_name = '${name}' and state = 'streaming'`;
    await expect.poll(() => query(primary.url, streaming)).toHaveLength(1);
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
