import { randomBytes } from "node:crypto";
import { serviceGrants } from "@petstore/embedded-postgres";
import pg from "pg";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** The server of the test run, for a role that may create databases. */
    postgresUrl: string;
    /** The same server, for the role of the services, which can create nothing. */
    serviceUrl: string;
    /** The same server through a PgBouncer in transaction mode, in a run with PgBouncer. */
    pgbouncerUrl: string | undefined;
  }
}

export interface TestDatabase extends AsyncDisposable {
  /** For the configuration of a service. Goes through PgBouncer in a run with PgBouncer. */
  readonly url: string;
  /** Never goes through PgBouncer. */
  readonly directUrl: string;
}

/** An empty database for one test file, so that files run in parallel. Disposing drops it, even with open connections. */
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

/** Lets the role of the services read and write the rows of a database. Returns its URL, without PgBouncer. */
export async function grantService({ directUrl }: TestDatabase): Promise<string> {
  const owner = new URL(directUrl);
  await execute(owner, serviceGrants(owner.pathname.slice(1)));
  return Object.assign(new URL(inject("serviceUrl")), { pathname: owner.pathname }).href;
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
