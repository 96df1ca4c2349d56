// One throw-away PostgreSQL for a whole run; vitest finds `setup` by its name.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedPostgresUrl, openEmbeddedPostgres } from "@petstore/embedded-postgres";
import type { TestProject } from "vitest/node";
import { openPgBouncer } from "./postgres/pgbouncer.js";
import type {} from "./postgres/test-database.js";

const prefix = "petstore-test-";

/** Provides `postgresUrl`, `serviceUrl` and `pgbouncerUrl`; returns the teardown. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await stopAbandoned();
  const directory = await mkdtemp(join(tmpdir(), prefix));
  const opened = await openEmbeddedPostgres({ directory, durable: false });
  if (opened.kind === "in-use") throw new Error(`Process ${opened.holderPid} uses a directory that was just created`);
  const pgbouncer = isThroughPgBouncer() ? await openPgBouncer(opened.database.ownerUrl) : undefined;
  project.provide("postgresUrl", opened.database.ownerUrl);
  project.provide("serviceUrl", opened.database.url);
  project.provide("pgbouncerUrl", pgbouncer?.url);
  return async () => {
    await pgbouncer?.[Symbol.asyncDispose]();
    await opened.database[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  };
}

/** What `npm run test:pgbouncer` asks for. */
function isThroughPgBouncer(): boolean {
  // biome-ignore lint/style/noProcessEnv: how a run of tests is made is said from outside it.
  return process.env.PETSTORE_TEST_PGBOUNCER === "1";
}

/** A killed run leaves its server running. Where the run lives, opening its directory is refused. */
async function stopAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    const directory = join(tmpdir(), name);
    try {
      // Not serving yet is a run that just begins.
      if ((await embeddedPostgresUrl(directory)) === undefined) continue;
      const opened = await openEmbeddedPostgres({ directory, durable: false });
      if (opened.kind === "in-use") continue;
      await opened.database[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    } catch {
      // Another user's, or removed in this moment: theirs to clean up.
    }
  }
}
