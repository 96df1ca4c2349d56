import { randomBytes } from "node:crypto";
import { serviceGrants } from "@petstore/embedded-postgres";
import { inject } from "vitest";
import { query } from "./postgres-server.js";

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
export async function createTestDatabase({ encoding }: { readonly encoding?: string } = {}): Promise<TestDatabase> {
  const server = inject("postgresUrl");
  const name = `test_${randomBytes(8).toString("hex")}`;
  // The default locale of the server is one of UTF-8.
  const options = encoding && `TEMPLATE template0 ENCODING ${encoding} LOCALE_PROVIDER libc LOCALE 'C'`;
  await query(server, `CREATE DATABASE ${name} ${options ?? ""}`);
  const urlThrough = (address: string) => Object.assign(new URL(address), { pathname: name }).href;
  return {
    url: urlThrough(inject("pgbouncerUrl") ?? server),
    directUrl: urlThrough(server),
    [Symbol.asyncDispose]: async () => void (await query(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

/** Lets the role of the services read and write the rows of a database. Returns its URL, without PgBouncer. */
export async function grantService({ directUrl }: TestDatabase): Promise<string> {
  const { pathname } = new URL(directUrl);
  await query(directUrl, serviceGrants(pathname.slice(1)));
  return Object.assign(new URL(inject("serviceUrl")), { pathname }).href;
}
