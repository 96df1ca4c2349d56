import { join } from "node:path";
import { describeWithProgram, shared } from "@petstore/harness";
import { openInstalledPostgres, openServerDirectory, query, runPostgresProgram } from "@petstore/harness/postgres";
import { folderOf, searchPath, startProgram } from "@petstore/harness/processes";
import { expect, it, vi } from "vitest";
import { checkStandby } from "../src/doctor/check-replication.js";
import { finding, runCommand } from "./run-command.js";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 120_000 } } });

// Each test continues with the servers as the test before has left them.
describeWithProgram("postgres", "petstore doctor, of a PostgreSQL with standbys,", async () => {
  const directory = await shared(openServerDirectory());
  const primary = await shared(openInstalledPostgres());
  await runCommand("migrate", { DATABASE_URL: primary.url });
  const withoutStandby = await replicationOf(primary.url);
  const data = join(directory.path, "one");
  // The option writes `standby.signal` and the address of the primary.
  const words = ["--write-recovery-conf", "--checkpoint=fast", `--pgdata=${data}`];
  await runPostgresProgram("pg_basebackup", [...words, `--dbname=${primary.url}?application_name=one`]);
  const standby = await shared(openInstalledPostgres({ data }));

  it("warns of a superuser, and of a role that owns a table", async () => {
    const owner = "create role maker login; grant pg_read_all_data to maker; alter table pets owner to maker";
    await query(primary.url, owner);
    for (const [username, excess] of [
      ["postgres", "is a superuser"],
      ["maker", "may create, alter or drop tables"],
    ] as const) {
      const url = Object.assign(new URL(primary.url), { username }).href;
      const { printed } = await runCommand("doctor", { DATABASE_URL: url });
      expect(printed).toContain(`warning  database role: ${username} ${excess}`);
    }
  });

  it("shows a standby with its state and lag, and warns if none is synchronous", async () => {
    const alone = /^127\.0\.0\.1:\d+ is the primary, and has no standby$/;
    expect(withoutStandby).toEqual([finding("ok", "replication", alone)]);
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
    await setSynchronous("other");
    const waits = finding("fault", "replication", /with 1 standby, and waits for a/);
    await expect.poll(() => replicationOf(primary.url)).toEqual([waits, finding("ok", "standby one")]);
    await setSynchronous("one");
    await expect
      .poll(() => replicationOf(primary.url))
      .toEqual([
        finding("ok", "replication", / with 1 standby, 1 of them synchronous$/),
        finding("ok", "standby one", /^sync, streaming, \d+ bytes and \d+\.\d s behind$/),
      ]);
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
    await expect.poll(() => query(primary.url, streaming)).toHaveLength(2);
    expect(await replicationOf(primary.url)).toEqual([finding("ok", "replication"), finding("ok", "standby one")]);
  });

  it("says what a role may not see, and still checks the rest", async () => {
    await query(primary.url, "create role petstore_service login; grant pg_read_all_data to petstore_service");
    const service = Object.assign(new URL(primary.url), { username: "petstore_service" }).href;
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
    expect(JSON.parse(printed)).toContainEqual(finding("warning", "keys", /^petstore_service may not look at them$/));
    await query(primary.url, "grant select on pg_stat_replication, pg_replication_slots to petstore_service");
    expect(await replicationOf(service)).toEqual([finding("warning", "replication", stateless)]);
  });

  it("shows for how long a standby has not replayed a change", async () => {
    await query(standby.url, "select pg_wal_replay_pause()");
    await query(primary.url, "create table written (id int)");
    const behind = expect.objectContaining({ found: expect.stringMatching(/ bytes and (?!0\.0)\d+\.\d s behind$/) });
    await expect.poll(() => replicationOf(primary.url)).toContainEqual(behind);
  });

  it("reports that the synchronous standby has left", async () => {
    await standby[Symbol.asyncDispose]();
    const waits = finding("fault", "replication", /waits for a synchronous standby that is not connected$/);
    await expect.poll(() => replicationOf(primary.url)).toEqual([waits]);
  });

  async function setSynchronous(name: string): Promise<void> {
    await query(primary.url, `alter system set synchronous_standby_names = '${name}'`);
    await query(primary.url, "select pg_reload_conf()");
  }
});

it.each([
  ["streaming", 10, "ok"],
  ["streaming", 10.1, "warning"],
  ["catchup", 0, "warning"],
] as const)("a standby that is %s and %d s behind is shown as %s", (state, lagSeconds, status) => {
  const standby = { name: "one", state, syncState: "sync", lagBytes: 8, lagSeconds };
  const found = new RegExp(`^sync, ${state}, 8 bytes and ${lagSeconds.toFixed(1)} s behind$`);
  expect(checkStandby(standby)).toEqual(finding(status, "standby one", found));
});

const streaming = "select from pg_stat_replication where state = 'streaming'";

async function replicationOf(url: string): Promise<unknown[]> {
  const { printed } = await runCommand("doctor --json", { DATABASE_URL: url });
  const findings = JSON.parse(printed) as { readonly check: string }[];
  return findings.filter(({ check }) => check === "replication" || check.startsWith("standby "));
}
