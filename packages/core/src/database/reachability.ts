import type { Log } from "../log.js";
import { sqlState } from "./availability.js";
import type { Database, DatabaseConfig } from "./database.js";
import { newestMigration } from "./migrate.js";
import { openProbe, type Probe } from "./probe.js";
import { query } from "./statement.js";

/** Whether the database can serve requests, as of the last look: asking costs nothing, however often it is asked. */
export interface Reachability extends AsyncDisposable {
  isReachable(): boolean;
  /** True if a request got no connection in time since the previous check. */
  isBusy(): boolean;
}

const lookIntervalMs = 1_000;
/** So that requests are sent here again soon after its return. */
const lookWhileAwayMs = 250;

/**
 * Resolves after the first look; one that fails leaves the database unreachable until a later one succeeds. A database
 * that lacks a migration counts as unreachable. Throws one line when the server refuses the user or the password, which waiting
 * does not mend.
 */
export async function watchDatabase(
  config: DatabaseConfig,
  database: Pick<Database, "connections">,
  log: Log,
): Promise<Reachability> {
  const probe = openProbe(config);
  let isReachable = true;
  let isBusy = false;
  let timeouts = 0;
  let next: NodeJS.Timeout | undefined;
  let isDisposed = false;

  function report(obstacle: unknown): void {
    if (isReachable && obstacle !== undefined) log.warn({ error: obstacle }, "the database cannot serve requests");
    if (!isReachable && obstacle === undefined) log.info({}, "the database serves requests");
    const { timeouts: timeoutsNow } = database.connections();
    // Requests that timed out while the database was unreachable say nothing about the pool.
    isBusy = isReachable && obstacle === undefined && timeoutsNow > timeouts;
    isReachable = obstacle === undefined;
    timeouts = timeoutsNow;
  }

  async function look(): Promise<void> {
    report(await findObstacle(probe));
    lookLater();
  }

  function lookLater(): void {
    if (isDisposed) return;
    next = setTimeout(look, isReachable ? lookIntervalMs : lookWhileAwayMs).unref();
  }

  const obstacle = await findObstacle(probe);
  const state = sqlState(obstacle) ?? "";
  if (refused.test(state)) {
    await probe[Symbol.asyncDispose]();
    throw new Error(`The database refuses the user or the password of DATABASE_URL (${state}).`, { cause: obstacle });
  }
  report(obstacle);
  lookLater();
  return {
    isReachable: () => isReachable,
    isBusy: () => isBusy,
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      clearTimeout(next);
      await probe[Symbol.asyncDispose]();
    },
  };
}

const refused = /^28/;

async function findObstacle(probe: Probe): Promise<unknown> {
  try {
    const rows = await probe.ask(selectMigration, { name: newestMigration });
    return rows.length > 0 ? undefined : new Error("a migration is missing: run petstore migrate");
  } catch (error) {
    if (sqlState(error) !== "42P01") return error;
    return new Error("the database has no tables: run petstore migrate");
  }
}

const selectMigration = query<{ name: string }, { name: string }>("select-migration", (db, slot) =>
  db.selectFrom("kysely_migration").select("name").where("name", "=", slot("name")),
);
