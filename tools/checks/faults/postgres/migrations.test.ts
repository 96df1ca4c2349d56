import { migrate } from "@petstore/core";
import { createTestDatabase } from "@petstore/harness";
import { openFaultProxy } from "@petstore/harness/network";
import { openSession, query } from "@petstore/harness/postgres";
import { until } from "@petstore/harness/processes";
import { it } from "../environment/environment.js";

const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

it("migrator-dead: blocks other migrators for 30 s at most", async ({ figures }) => {
  figures.atMost(5_000, "another one has migrated after a reset", await migrateAfter("refuse"), "ms");
  figures.atMost(30_000, "another one has migrated after silence", await migrateAfter("blackHole"), "ms");
});

/** How long a migrator takes after another one has lost PostgreSQL in this way during its migration. */
async function migrateAfter(fault: "refuse" | "blackHole"): Promise<number> {
  await using database = await createTestDatabase();
  // This transaction makes the type that the first migration makes, so the migration waits for it.
  await using obstacle = await openSession(database.directUrl);
  await obstacle.query("begin; create type pet_status as enum ()");
  await using proxy = await openFaultProxy({ url: database.directUrl });
  const victim = migrate(proxy.url).catch(() => {});
  await until("the victim waits", async () => (await query(database.directUrl, waiting)).length > 0);
  await proxy[fault]();
  await obstacle.query("rollback");
  const startMs = performance.now();
  const applied = await migrate(database.directUrl);
  const durationMs = performance.now() - startMs;
  await proxy.refuse();
  await victim;
  if (applied.length === 0) throw new Error("the victim had migrated before");
  return durationMs;
}
