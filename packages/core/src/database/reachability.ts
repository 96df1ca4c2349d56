import type { Client } from "pg";
import type { Log } from "../log.js";
import { NotPrimary, requirePrimary, sendQuery } from "./connection.js";
import { clientConfigOf, type DatabaseConfig } from "./connection-config.js";
import type { Database } from "./database.js";
import { sqlState } from "./database-errors.js";
import { compareMigrations, selectAppliedMigrations } from "./migration-status.js";
import { openSession } from "./session.js";

export interface Reachability extends AsyncDisposable {
  /** True if the database could serve requests at the last check. */
  isReachable(): boolean;
  /** The migrations of a newer release that the database had at the last check that saw its migrations. */
  unknownMigrations(): readonly string[];
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
  let unknownMigrations: readonly string[] = [];
  const session = openSession({
    config: { ...clientConfigOf(config, config.readTimeoutMs), application_name: "petstore-health" },
    async check(client) {
      database.noticeServer(await requirePrimary(client, config.readTimeoutMs));
      const applied = await readApplied(client, config.readTimeoutMs);
      if (applied === undefined) return new Error("the database has no tables: run petstore migrate");
      const { pending, unknown } = compareMigrations(applied);
      noticeUnknown(unknown);
      return pending.length === 0 ? undefined : new Error("a migration is missing: run petstore migrate");
    },
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

  function noticeUnknown(migrations: readonly string[]): void {
    if (migrations.length > unknownMigrations.length) {
      log.info({ migrations }, "a newer release has migrated the database");
    }
    unknownMigrations = migrations;
  }

  return {
    isReachable: () => isReachable,
    unknownMigrations: () => unknownMigrations,
    [Symbol.asyncDispose]: session[Symbol.asyncDispose],
  };
}

/** SQLSTATE class 28: invalid authorization. */
function isRefusal(obstacle: unknown): boolean {
  return /^28/.test(sqlState(obstacle) ?? "");
}

/** `undefined` without the table of migrations. */
async function readApplied(
  client: Client,
  timeoutMs: number,
): Promise<readonly { readonly name: string }[] | undefined> {
  try {
    return await sendQuery(client, { text: selectAppliedMigrations, timeoutMs });
  } catch (error) {
    if (sqlState(error) !== "42P01") throw error;
    return undefined;
  }
}
