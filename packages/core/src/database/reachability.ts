import type { Log } from "../log.js";
import { sqlState } from "./availability.js";
import type { Database } from "./database.js";
import { newestMigration } from "./migrate.js";
import { statement } from "./statement.js";

/** Whether the database can serve requests, as of the last look: asking costs nothing, however often it is asked. */
export interface Reachability extends Disposable {
  isReachable(): boolean;
}

const lookIntervalMs = 1_000;
/** So that requests are sent here again soon after its return. */
const lookWhileAwayMs = 250;

/**
 * Resolves after the first look; one that fails leaves the database away until a later one succeeds. A database that
 * lacks a migration counts as away. Throws one line when the server refuses the user or the password, which waiting
 * does not mend.
 */
export async function watchDatabase(database: Database, log: Log): Promise<Reachability> {
  let isReachable = true;
  let next: NodeJS.Timeout | undefined;
  let isDisposed = false;

  function report(obstacle: unknown): void {
    if (isReachable && obstacle !== undefined) log.warn({ error: obstacle }, "the database cannot serve requests");
    if (!isReachable && obstacle === undefined) log.info({}, "the database serves requests");
    isReachable = obstacle === undefined;
  }

  async function look(): Promise<void> {
    report(await findObstacle(database));
    lookLater();
  }

  function lookLater(): void {
    if (isDisposed) return;
    next = setTimeout(look, isReachable ? lookIntervalMs : lookWhileAwayMs).unref();
  }

  const obstacle = await findObstacle(database);
  const state = sqlState(obstacle) ?? "";
  if (refused.test(state)) {
    throw new Error(`The database refuses the user or the password of DATABASE_URL (${state}).`, { cause: obstacle });
  }
  report(obstacle);
  lookLater();
  return {
    isReachable: () => isReachable,
    [Symbol.dispose]() {
      isDisposed = true;
      clearTimeout(next);
    },
  };
}

const refused = /^28/;

async function findObstacle(database: Database): Promise<unknown> {
  try {
    const rows = await database.run(selectMigration, { name: newestMigration });
    return rows.length > 0 ? undefined : new Error("a migration is missing: run petstore migrate");
  } catch (error) {
    if (sqlState(error) !== "42P01") return error;
    return new Error("the database has no tables: run petstore migrate");
  }
}

const selectMigration = statement<{ name: string }, { name: string }>("select-migration", (db, slot) =>
  db.selectFrom("kysely_migration").select("name").where("name", "=", slot("name")),
);
