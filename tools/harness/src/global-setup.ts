// One PostgreSQL for a whole test run. vitest calls `setup` by its name.
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedPostgresUrl, openEmbeddedPostgres } from "@petstore/embedded-postgres";
import type { TestProject } from "vitest/node";
import { openPgBouncer } from "./postgres/pgbouncer.js";
import { openTemporaryPostgres } from "./postgres/postgres-server.js";
import type {} from "./postgres/test-database.js";

const prefix = "petstore-test-";

/** Provides `postgresUrl`, `serviceUrl` and `pgbouncerUrl`; returns the teardown. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await stopAbandoned();
  const postgres = await openTemporaryPostgres(prefix);
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

/** A killed run leaves its server running. The directory of a run that is still alive cannot be opened. */
async function stopAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    const directory = join(tmpdir(), name);
    try {
      // Another run is just starting this server.
      if ((await embeddedPostgresUrl(directory)) === undefined) continue;
      const opened = await openEmbeddedPostgres({ directory, durable: false });
      if (opened.kind === "in-use") continue;
      await opened.database[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    } catch {
      // It belongs to another user, or another run has just removed it.
    }
  }
}
