import type { Client } from "pg";
import type { Log } from "../log.js";
import { NotPrimary, requirePrimary, sendQuery } from "./connection.js";
import { clientConfigOf, type DatabaseConfig } from "./connection-config.js";
import type { Database } from "./database.js";
import { sqlState } from "./database-errors.js";
import { newestMigration } from "./migrate.js";
import { openSession } from "./session.js";

export interface Reachability extends AsyncDisposable {
  /** True if the database could serve requests at the last check. */
  isReachable(): boolean;
}

const checkIntervalMs = 1_000;
/** Shorter, so that the instance gets requests again soon after the database has recovered. */
const unreachableCheckIntervalMs = 250;

/**
 * Resolves after the first check, even if the check fails. A database that lacks a migration counts as unreachable. Throws
 * an error with a one-line message if the server refuses the user or the password, because waiting does not help then.
 * Uses no connection of the pool, because a busy pool does not mean that the database is unreachable.
 */
export async function watchDatabase(
  config: DatabaseConfig,
  database: Pick<Database, "refuse" | "noticeServer">,
  log: Log,
): Promise<Reachability> {
  let isReachable = true;
  let isStarted = false;
  const session = openSession({
    config: { ...clientConfigOf(config, config.readTimeoutMs), application_name: "petstore-health" },
    check: (client) => findObstacle(client, config.readTimeoutMs, database.noticeServer),
    onResult(obstacle) {
      // At the start, `watchDatabase` throws this error instead.
      const isThrown = !isStarted && isRefusal(obstacle);
      if (isReachable && obstacle !== undefined && !isThrown) {
        log.warn({ error: obstacle }, "the database cannot serve requests");
      }
      if (!isReachable && obstacle === undefined) log.info({}, "the database serves requests");
      isReachable = obstacle === undefined;
      if (obstacle === undefined || obstacle instanceof NotPrimary) database.refuse(obstacle);
    },
    checkIntervalMs,
    retryDelayMs: () => unreachableCheckIntervalMs,
  });
  const cause = await session.first;
  if (isRefusal(cause)) {
    await session[Symbol.asyncDispose]();
    const state = sqlState(cause);
    throw new Error(`The database refuses the user or the password of DATABASE_URL (${state}).`, { cause });
  }
  isStarted = true;
  return {
    isReachable: () => isReachable,
    [Symbol.asyncDispose]: session[Symbol.asyncDispose],
  };
}

/** SQLSTATE class 28: invalid authorization. */
function isRefusal(obstacle: unknown): boolean {
  return /^28/.test(sqlState(obstacle) ?? "");
}

async function findObstacle(
  client: Client,
  timeoutMs: number,
  noticeServer: Database["noticeServer"],
): Promise<unknown> {
  noticeServer(await requirePrimary(client, timeoutMs));
  try {
    const rows = await sendQuery(client, { text: selectMigration, values: [newestMigration], timeoutMs });
    return rows.length > 0 ? undefined : new Error("a migration is missing: run petstore migrate");
  } catch (error) {
    if (sqlState(error) !== "42P01") throw error;
    return new Error("the database has no tables: run petstore migrate");
  }
}

export const selectMigration = "select from kysely_migration where name = $1";
