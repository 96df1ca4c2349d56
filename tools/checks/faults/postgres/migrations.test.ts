import { migrate } from "@petstore/core";
import { openSession, type PostgresServer, query } from "@petstore/harness/postgres";
import { serviceFlags, startProgram } from "@petstore/harness/processes";
import { it } from "../environment/environment.js";

const petstore = new URL("../../../admin/dist/main.js", import.meta.url);
const migratorWaits = "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

it("migrator-dead: blocks other migrators for 30 s at most", async ({ environment, figures }) => {
  const server = await environment.openPostgres();
  figures.atMost(5_000, "another one has migrated after SIGKILL", await migrateAfter(server, "SIGKILL"), "ms");
  figures.atMost(30_000, "another one has migrated after SIGSTOP", await migrateAfter(server, "SIGSTOP"), "ms");
});

/** How long a migrator takes after another one received the signal during its migration. */
async function migrateAfter(server: PostgresServer, signal: NodeJS.Signals): Promise<number> {
  const name = `dead_by_${signal.toLowerCase()}`;
  await server.query(`create database ${name}`);
  const databaseUrl = Object.assign(new URL(server.url), { pathname: name }).href;
  // This transaction makes the type that the first migration makes, so the migration waits for it.
  await using obstacle = await openSession(databaseUrl);
  await obstacle.query("begin; create type pet_status as enum ()");
  await using victim = startProgram({
    name: "petstore migrate",
    args: [...serviceFlags, petstore.pathname, "migrate"],
    environment: { DATABASE_URL: databaseUrl },
  });
  await victim.until(async () => (await query(databaseUrl, `select from ${migratorWaits}`)).length > 0);
  victim.signal(signal);
  await obstacle.query("rollback");
  const startMs = performance.now();
  const applied = await migrate(databaseUrl);
  const durationMs = performance.now() - startMs;
  void victim.kill();
  if (applied.length === 0) throw new Error("the victim had migrated before");
  return durationMs;
}
