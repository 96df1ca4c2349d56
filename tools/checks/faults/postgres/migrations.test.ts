import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresServer } from "@petstore/harness/postgres";
import { it } from "../environment/it.js";
import { petstore, startPetstore } from "../environment/petstore-command.js";
import { until } from "../environment/waits.js";

const rounds = 5;

it("migrate-at-once: runs each migration once when four processes migrate", async ({ environment, figures }) => {
  const server = await environment.openPostgres();
  const migrations = (await server.query("select name from kysely_migration")).map(({ name }) => `${name}`);
  let repeated = 0;
  let missing = 0;
  for (let round = 0; round < rounds; round += 1) {
    const databaseUrl = await createDatabase(server, `at_once_${round}`);
    const applied = (await Promise.all([1, 2, 3, 4].map(() => migrate(databaseUrl)))).flat();
    repeated += applied.length - new Set(applied).size;
    missing += migrations.filter((name) => !applied.includes(name)).length;
  }
  figures.exactly(0, `of ${migrations.length} migrations, run more than once`, repeated);
  figures.exactly(0, "migrations not run", missing);
});

it("migrator-dead: blocks other migrators for 30 s at most", async ({ environment, figures }) => {
  const server = await environment.openPostgres();
  figures.atMost(5_000, "another one has migrated after SIGKILL", await migrateAfter(server, "SIGKILL"), "ms");
  figures.atMost(30_000, "another one has migrated after SIGSTOP", await migrateAfter(server, "SIGSTOP"), "ms");
});

/** How long a migrator takes after another one received the signal during its migration. */
async function migrateAfter(server: PostgresServer, signal: NodeJS.Signals): Promise<number> {
  const databaseUrl = await createDatabase(server, `dead_by_${signal.toLowerCase()}`);
  // This transaction makes the type that the first migration makes, so the migration waits for it.
  const obstacle = server.query("begin; create type pet_status as enum (); select pg_sleep(3); rollback", databaseUrl);
  // The failure is reported by the `await` below.
  obstacle.catch(() => {});
  await sleep(300);
  await using victim = startPetstore({ databaseUrl }, "migrate");
  await until(async () => {
    if (victim.hasEnded()) throw new Error("the migrator ended before it met the obstacle");
    const waiting = "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    return (await server.query(`select from ${waiting}`, databaseUrl)).length > 0;
  });
  victim.signal(signal);
  await obstacle;
  const startMs = performance.now();
  const applied = await migrate(databaseUrl);
  const durationMs = performance.now() - startMs;
  victim.signal("SIGKILL");
  if (applied.length === 0) throw new Error("the victim had migrated before");
  return durationMs;
}

/** The names of the migrations that this run applied. */
async function migrate(databaseUrl: string): Promise<readonly string[]> {
  const { applied } = JSON.parse(await petstore({ databaseUrl }, "migrate --json"));
  return applied;
}

async function createDatabase(server: PostgresServer, name: string): Promise<string> {
  await server.query(`create database ${name}`);
  return Object.assign(new URL(server.url), { pathname: name }).href;
}
