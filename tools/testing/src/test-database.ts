import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** The run's own server, in which the role may create databases. */
    postgresUrl: string;
    /** The same server through a PgBouncer in transaction mode, where the run is to go through one. */
    pgbouncerUrl: string | undefined;
  }
}

export interface TestDatabase extends AsyncDisposable {
  /** What a service is configured with; through a PgBouncer where the run goes through one. */
  readonly url: string;
  /** Past any PgBouncer: for listening, and for looking at sessions. */
  readonly directUrl: string;
}

/** A fresh, empty database for one test file, so that files run in parallel. Disposing drops it under open connections. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = new URL(inject("postgresUrl"));
  const name = `test_${randomBytes(8).toString("hex")}`;
  await execute(server, `CREATE DATABASE ${name}`);
  const [directUrl = "", url = directUrl] = [server.href, inject("pgbouncerUrl")].flatMap((address) => {
    return address === undefined ? [] : [Object.assign(new URL(address), { pathname: name }).href];
  });
  return {
    url,
    directUrl,
    [Symbol.asyncDispose]: () => execute(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function execute(server: URL, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.href });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
