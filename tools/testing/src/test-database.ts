import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** The run's own server, in which the role may create databases. */
    postgresUrl: string;
  }
}

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
}

/** A fresh, empty database for one test file, so that files run in parallel. Disposing drops it under open connections. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = new URL(inject("postgresUrl"));
  const name = `test_${randomBytes(8).toString("hex")}`;
  await execute(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = name;
  return {
    url: url.href,
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
