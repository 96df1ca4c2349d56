import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresServer } from "@petstore/harness/postgres";
import { atMost, exactly } from "./measure.js";
import { petstore, startPetstore } from "./petstore.js";
import type { Scenario } from "./scenario.js";

const rounds = 5;

export const migrationScenarios: readonly Scenario[] = [
  {
    group: "postgres",
    name: "migrate-at-once",
    cause: `four processes migrate an empty database at once, ${rounds} times`,
    expected: "each migration runs once",
    async run(stage) {
      const server = await stage.openPostgres();
      const expected = await migrationsOf(server, "petstore");
      let repeated = 0;
      let missing = 0;
      for (let round = 0; round < rounds; round += 1) {
        const databaseUrl = await createDatabase(server, `at_once_${round}`);
        const outputs = await Promise.all([1, 2, 3, 4].map(() => petstore({ databaseUrl }, "migrate --json")));
        const applied = outputs.flatMap(appliedIn);
        repeated += applied.length - new Set(applied).size;
        missing += expected.filter((name) => !applied.includes(name)).length;
      }
      return [
        exactly(0, `of ${expected.length} migrations, run more than once`, repeated),
        exactly(0, "not run", missing),
      ];
    },
  },
  {
    group: "postgres",
    name: "migrator-dead",
    cause: "a migrator is killed, and another stopped, in the middle of a migration",
    expected: "others are blocked 30 s at most",
    async run(stage) {
      const server = await stage.openPostgres();
      const after: Record<string, number> = {};
      for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
        const databaseUrl = await createDatabase(server, `dead_by_${signal.toLowerCase()}`);
        after[signal] = await migrateAfter(server, databaseUrl, signal);
      }
      return [
        atMost(5_000, "another one has migrated after SIGKILL", after.SIGKILL ?? Number.NaN, "ms"),
        atMost(30_000, "another one has migrated after SIGSTOP", after.SIGSTOP ?? Number.NaN, "ms"),
      ];
    },
  },
];

/** How long another migrator takes when one was told that in the middle of its work. */
async function migrateAfter(server: PostgresServer, databaseUrl: string, signal: NodeJS.Signals): Promise<number> {
  // Meets the first migration at a type that it makes too, and keeps it there.
  const obstacle = server.query("begin; create type pet_status as enum (); select pg_sleep(3); rollback", databaseUrl);
  // It is waited for below; until then nobody would hear of its failure.
  obstacle.catch(() => {});
  await sleep(300);
  await using victim = startPetstore({ databaseUrl }, "migrate");
  while (!(await isWaiting(server, databaseUrl))) {
    if (victim.hasEnded()) throw new Error("the migrator had ended before it met the obstacle");
    await sleep(20);
  }
  victim.signal(signal);
  await obstacle;
  const startMs = performance.now();
  const applied = appliedIn(await petstore({ databaseUrl }, "migrate --json"));
  const durationMs = performance.now() - startMs;
  victim.signal("SIGKILL");
  if (applied.length === 0) throw new Error("the dead migrator had migrated already");
  return durationMs;
}

async function isWaiting(server: PostgresServer, databaseUrl: string): Promise<boolean> {
  const rows = await server.query(
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    databaseUrl,
  );
  return rows.length > 0;
}

async function createDatabase(server: PostgresServer, name: string): Promise<string> {
  await server.query(`create database ${name}`);
  return Object.assign(new URL(server.url), { pathname: name }).href;
}

async function migrationsOf(server: PostgresServer, database: string): Promise<string[]> {
  const url = Object.assign(new URL(server.url), { pathname: database }).href;
  return (await server.query("select name from kysely_migration", url)).map(({ name }) => `${name}`);
}

function appliedIn(output: readonly string[]): string[] {
  return (JSON.parse(output.join("")) as { readonly applied: string[] }).applied;
}
