import { randomBytes } from "node:crypto";
import { type Limits, migrate, mintApiKey } from "@petstore/core";
import type { PostgresServer } from "@petstore/harness/postgres";
import { openStoreDatabase, type StoreDatabase } from "../../src/store-database.js";
import type { Environment } from "./environment.js";
import type { Instance, Settings } from "./services.js";

export const unlimited: Limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };

/** Migrates the database and connects to it. Disposing disconnects. */
export async function openMigratedDatabase(databaseUrl: string): Promise<StoreDatabase> {
  await migrate(databaseUrl);
  return openStoreDatabase(databaseUrl);
}

/** A well-formed key that no account has. */
export function mintUnknownKey(): string {
  return mintApiKey("live", randomBytes);
}

/** Starts a PostgreSQL that counts statements, and services that use it, and warms them up. */
export async function startCounting(
  environment: Environment,
  settings?: Settings,
  instances?: readonly Instance[],
): Promise<PostgresServer> {
  const server = await environment.openPostgres();
  await server.countStatements();
  await environment.startServices(settings, instances);
  await environment.warmUp();
  return server;
}

/** How many statements have named a table, by a regular expression. */
export async function countStatements(server: PostgresServer, table: string): Promise<number> {
  const [row] = await server.query(
    `select coalesce(sum(calls), 0)::int as calls from pg_stat_statements where query ~ '"${table}"'`,
  );
  return Number(row?.calls);
}
