// One PostgreSQL for a whole test run. vitest calls `setup` by its name.
import type { TestProject } from "vitest/node";
import { openPgBouncer } from "./postgres/pgbouncer.js";
import { openTemporaryPostgres } from "./postgres/postgres-server.js";
import type {} from "./postgres/test-database.js";

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await openTemporaryPostgres();
  // biome-ignore lint/style/noProcessEnv: `npm run test:pgbouncer` sets this.
  const isThroughPgBouncer = process.env.PETSTORE_TEST_PGBOUNCER === "1";
  const pgbouncer = isThroughPgBouncer ? await openPgBouncer(postgres.ownerUrl) : undefined;
  project.provide("postgresUrl", postgres.ownerUrl);
  project.provide("serviceUrl", postgres.url);
  project.provide("pgbouncerUrl", pgbouncer?.url);
  return async () => {
    await pgbouncer?.[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
  };
}
