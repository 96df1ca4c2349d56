import { createTestDatabase, shared, type TestDatabase } from "@petstore/harness";
import { query } from "@petstore/harness/postgres";
import { expect } from "vitest";
import type { DatabaseConfig } from "../src/database/connection-config.js";
import { type Database, openDatabase } from "../src/database/database.js";
import { migrate } from "../src/database/migrate.js";
import type { Statement } from "../src/database/statement.js";
import { silentLog } from "./logs.js";

/** Rejections of a statement. */
export const unavailable = unavailableBecause("The database is unavailable");
export const late = unavailableBecause("The database did not answer in time");

function unavailableBecause(reason: string): unknown {
  const message = `${reason}; try again shortly.`;
  return expect.objectContaining({ code: "SERVICE_UNAVAILABLE", status: 503, message, retryAfterSeconds: 1 });
}

interface SharedDatabase extends Pick<TestDatabase, "url" | "directUrl"> {
  /** Behind a PgBouncer in a run with PgBouncer, unless the configuration names another address. */
  open(config?: Partial<DatabaseConfig>): Database;
  /** Runs the statement on a connection of its own. */
  execute<Row = Record<string, unknown>>(statement: string): Promise<Row[]>;
}

/** The time limits of a database, all of this length. */
export function limitedTo(ms: number) {
  return { acquireTimeoutMs: ms, readTimeoutMs: ms, writeTimeoutMs: ms };
}

/** A migrated temporary database for the tests of a file. */
export async function openSharedDatabase(): Promise<SharedDatabase> {
  const server = await shared(createTestDatabase());
  await migrate(server.directUrl);
  return {
    ...server,
    open(config) {
      // Long enough for a busy machine. A test of a time limit sets its own.
      return openDatabase({ url: server.url, poolSize: 5, ...limitedTo(20_000), ...config }, silentLog);
    },
    execute: async <Row>(statement: string) => (await query(server.directUrl, statement)) as Row[],
  };
}

/** A statement with the values of its parameters `$1`, `$2` and so on, in their order. */
export function sqlOf<Row = Record<string, unknown>>(
  access: Statement<unknown, Row>["access"],
  text: string,
): Statement<readonly unknown[], Row> {
  return { name: `${access} ${text}`.slice(0, 63), text, access, bind: (values) => [...values] };
}

/** A function that runs statements on the database, and a list of the statements that it has run. */
export function recordStatements(database: Database) {
  const ran: { readonly name: string; readonly values: unknown }[] = [];
  const run: Database["run"] = (statement, values) => {
    ran.push({ name: statement.name, values });
    return database.run(statement, values);
  };
  return { run, ran };
}
