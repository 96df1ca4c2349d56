import { type Database, openDatabase, Problem } from "@petstore/core";

export interface Surroundings {
  /** The database to work on; `undefined` when none is configured and no standalone store is running. */
  databaseUrl(): Promise<string | undefined>;
  print(text: string): void;
  complain(text: string): void;
}

/** Why a command cannot do what it was asked: one line for the person who asked, and exit code 1. */
export class Refusal extends Error {}

export async function requireDatabaseUrl(surroundings: Surroundings): Promise<string> {
  const url = await surroundings.databaseUrl();
  if (url === undefined)
    throw new Refusal("There is no database: start the store with npm start, or set DATABASE_URL.");
  return url;
}

/** Opens the database for one command. A person waits longer than a request may. */
export async function withDatabase(
  surroundings: Surroundings,
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const url = await requireDatabaseUrl(surroundings);
  const silent = { info() {}, warn() {}, error() {} };
  await using database = openDatabase(
    { url, poolSize: 1, acquireTimeoutMs: 5_000, statementTimeoutMs: 10_000 },
    silent,
  );
  await work(database);
}

/** The line a failed command ends with. */
export function explain(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  const reason = error instanceof Problem && error.cause instanceof Error ? error.cause : error;
  const code = reason instanceof Error && "code" in reason ? reason.code : undefined;
  if (code === "42P01") return "The database has no tables yet: run petstore migrate first.";
  return reason instanceof Error ? reason.message || `${code ?? reason.name}` : `${reason}`;
}
