import type { PostgresServer } from "@petstore/harness/postgres";
import type { Stage } from "./stage.js";

/** A PostgreSQL of the row's own, which counts. */
export async function openCounting(stage: Stage): Promise<PostgresServer> {
  const server = await stage.openPostgres();
  await server.countStatements();
  return server;
}

/** How many statements that name such a table, by a regular expression, have been executed so far. */
export async function countStatements(server: PostgresServer, table: string): Promise<number> {
  const rows = await server.query(
    `select coalesce(sum(calls), 0)::int as calls from pg_stat_statements where query ~ '"${table}"'`,
  );
  return Number(rows[0]?.calls);
}
