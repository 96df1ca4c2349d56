// One PostgreSQL for a whole test run. vitest calls `setup` by its name.
import type { TestProject } from "vitest/node";
import { openPgBouncer } from "./postgres/pgbouncer.js";
import { openPostgresServer, query } from "./postgres/postgres-server.js";
import type {} from "./postgres/test-database.js";

/** For speed. A vacuum worker would keep a test from dropping its database. */
const settings = ["fsync = off", "synchronous_commit = off", "full_page_writes = off", "autovacuum = off"];

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await openPostgresServer();
  for (const setting of settings) await query(postgres.administratorUrl, `alter system set ${setting}`);
  await query(postgres.administratorUrl, "select pg_reload_conf()");
  // biome-ignore lint/style/noProcessEnv: `npm run test:pgbouncer` sets this.
  const isThroughPgBouncer = process.env.PETSTORE_TEST_PGBOUNCER === "1";
  const pgbouncer = isThroughPgBouncer ? await openPgBouncer(postgres.url) : undefined;
  project.provide("postgresUrl", postgres.url);
  project.provide("serviceUrl", postgres.serviceUrl);
  project.provide("pgbouncerUrl", pgbouncer?.url);
  return async () => {
    await pgbouncer?.[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
  };
}
