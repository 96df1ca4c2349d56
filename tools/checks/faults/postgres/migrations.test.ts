import { migrate, readMigrations } from "@petstore/core";
import { createTestDatabase } from "@petstore/harness";
import { openFaultProxy } from "@petstore/harness/network";
import { openSession, query } from "@petstore/harness/postgres";
import { until } from "@petstore/harness/processes";
import { it } from "../environment/environment.js";

const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
const faults = { reset: "refuse", silence: "blackHole" } as const;
const atMostMs = { reset: 5_000, silence: 30_000 };

it("migrator-dead: blocks other migrators for 30 s at most", async ({ figures }) => {
  for (const fault of ["reset", "silence"] as const) {
    // This transaction makes the type that the first migration makes, so the migration waits for it.
    const inTransaction = await migrateAfter(fault, "begin; create type pet_status as enum ()");
    figures.atMost(atMostMs[fault], `another one has migrated after ${fault}`, inTransaction, "ms");
    // This one writes to the table of the index, so the build of the index waits for it.
    const inBuild = await migrateAfter(fault, "begin; lock table idempotency_keys in row exclusive mode", lastIndex);
    figures.atMost(atMostMs[fault], `another one has built the index after ${fault}`, inBuild, "ms");
  }
});

const lastIndex = `
  drop index idempotency_keys_pet_id;
  delete from kysely_migration where name = '0008-pets-of-idempotency-keys'`;

/**
 * How long a migrator takes after another one has lost PostgreSQL in this way during its migration.
 *
 * @param undo Undoes the last migrations of a migrated database. By default, the database is empty.
 */
async function migrateAfter(fault: keyof typeof faults, hold: string, undo?: string): Promise<number> {
  await using database = await createTestDatabase();
  if (undo !== undefined) {
    await migrate(database.directUrl);
    await query(database.directUrl, undo);
  }
  await using obstacle = await openSession(database.directUrl);
  await obstacle.query(hold);
  await using proxy = await openFaultProxy({ url: database.directUrl });
  const victim = migrate(proxy.url).catch(() => {});
  await until("the victim waits", async () => (await query(database.directUrl, waiting)).length > 0);
  await proxy[faults[fault]]();
  await obstacle.query("rollback");
  const startMs = performance.now();
  const applied = await migrate(database.directUrl);
  const durationMs = performance.now() - startMs;
  await proxy.refuse();
  await victim;
  if (applied.length === 0) throw new Error("the victim had migrated before");
  const { pending } = await readMigrations(database.directUrl);
  if (pending.length > 0) throw new Error(`${pending.join(", ")} did not run`);
  return durationMs;
}
