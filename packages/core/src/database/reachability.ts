import { Client } from "pg";
import type { Log } from "../log.js";
import { clientConfigOf, endClient, sendQuery } from "./connection.js";
import type { Database, DatabaseConfig } from "./database.js";
import { asProblem, sqlState } from "./database-errors.js";
import { newestMigration } from "./migrate.js";

/** The database as of the last check. Reading it costs nothing. */
export interface Reachability extends AsyncDisposable {
  /** True if the database can serve requests. */
  isReachable(): boolean;
  /** True if a request got no connection in time since the previous check. */
  isBusy(): boolean;
}

const checkIntervalMs = 1_000;
/** Shorter, so that the instance soon gets requests again when the database has recovered. */
const unreachableCheckIntervalMs = 250;

/**
 * Resolves after the first check. If that fails, the database is unreachable until a later check succeeds. A database
 * that lacks a migration counts as unreachable. Throws one line if the server refuses the user or the password, because
 * waiting does not help then.
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

  function record(obstacle: unknown): void {
    if (isReachable && obstacle !== undefined) log.warn({ error: obstacle }, "the database cannot serve requests");
    if (!isReachable && obstacle === undefined) log.info({}, "the database serves requests");
    const { timeouts: timeoutsNow } = database.connections();
    // Requests that timed out while the database was unreachable say nothing about the pool.
    isBusy = isReachable && obstacle === undefined && timeoutsNow > timeouts;
    isReachable = obstacle === undefined;
    timeouts = timeoutsNow;
    if (!isDisposed) next = setTimeout(check, isReachable ? checkIntervalMs : unreachableCheckIntervalMs).unref();
  }

  async function check(): Promise<void> {
    record(await probe.findObstacle());
  }

  const obstacle = await probe.findObstacle();
  const state = sqlState(obstacle) ?? "";
  if (refusedUser.test(state)) {
    await probe[Symbol.asyncDispose]();
    throw new Error(`The database refuses the user or the password of DATABASE_URL (${state}).`, { cause: obstacle });
  }
  record(obstacle);
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

const refusedUser = /^28/;

interface Probe extends AsyncDisposable {
  /** Why the database cannot serve requests; `undefined` if it can. One call at a time. */
  findObstacle(): Promise<unknown>;
}

/** Keeps a connection outside the pool, so that a busy pool does not look like an unreachable database. */
function openProbe(config: DatabaseConfig): Probe {
  const { readTimeoutMs: timeoutMs } = config;
  let client: Client | undefined;

  async function connect(): Promise<Client> {
    const opened = new Client({ ...clientConfigOf(config, timeoutMs), application_name: "petstore-health" });
    opened.on("error", () => drop(opened));
    client = opened;
    await opened.connect();
    return opened;
  }

  function drop(lost: Client | undefined): void {
    if (client === lost) client = undefined;
    if (lost !== undefined) void endClient(lost);
  }

  return {
    async findObstacle() {
      try {
        const connected = client ?? (await connect());
        const query = { name: "", text: migrationQuery, values: [newestMigration], timeoutMs };
        const rows = await sendQuery(connected, query);
        return rows.length > 0 ? undefined : new Error("a migration is missing: run petstore migrate");
      } catch (error) {
        const problem = asProblem(error);
        if (problem.code === "SERVICE_UNAVAILABLE") drop(client);
        return sqlState(problem) === "42P01" ? new Error("the database has no tables: run petstore migrate") : problem;
      }
    },
    async [Symbol.asyncDispose]() {
      if (client !== undefined) await endClient(client);
    },
  };
}

const migrationQuery = "select from kysely_migration where name = $1";
