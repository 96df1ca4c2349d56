import { type Database, type DatabaseConfig, openDatabase, readDatabaseConfig } from "@petstore/core";
import { explainDatabase } from "./database-fault.js";

export interface Surroundings {
  /** Names and values as in `process.env`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The database of the standalone store; `undefined` when none is running. */
  standaloneUrl(): Promise<string | undefined>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** From a cryptographic source. */
  readonly randomBytes: (size: number) => Buffer;
  print(text: string): void;
  complain(text: string): void;
}

/** What every command works with. */
export interface Workplace {
  readonly database: Database;
  /** Where a session of our own is had: not through a PgBouncer. */
  readonly directUrl: string;
}

/** Why a command cannot do what it was asked: one line for the person who asked, and exit code 1. */
export class Refusal extends Error {}

/** What the environment says; where it says nothing about a database, the running standalone store's. */
export async function effectiveEnvironment(surroundings: Surroundings): Promise<Surroundings["environment"]> {
  const { environment } = surroundings;
  if (environment.DATABASE_URL || environment.DATABASE_URL_FILE) return environment;
  return { ...environment, DATABASE_URL: await surroundings.standaloneUrl() };
}

export async function requireDatabaseConfig(surroundings: Surroundings): Promise<DatabaseConfig> {
  const environment = await effectiveEnvironment(surroundings);
  if (!environment.DATABASE_URL && !environment.DATABASE_URL_FILE)
    throw new Refusal("There is no database: start the store with npm start, or set DATABASE_URL.");
  return readDatabaseConfig(environment);
}

/** Opens the database for one command. A person waits longer than a request may. */
export async function withDatabase(
  surroundings: Surroundings,
  work: (workplace: Workplace) => Promise<void>,
): Promise<void> {
  const config = await requireDatabaseConfig(surroundings);
  await explainingFaults(config.url, async () => {
    const patient = { ...config, poolSize: 2, acquireTimeoutMs: 5_000, readTimeoutMs: 10_000, writeTimeoutMs: 10_000 };
    await using database = openDatabase(patient, silent);
    await work({ database, directUrl: config.directUrl ?? config.url });
  });
}

/** Turns what becomes of the database into the line the operator needs. */
export async function explainingFaults<Result>(url: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const line = error instanceof Refusal ? undefined : explainDatabase(error, url);
    throw line === undefined ? error : new Refusal(line, { cause: error });
  }
}

/** What fails is told by the command's own line. */
export const silent: { info(): void; warn(): void; error(): void } = { info() {}, warn() {}, error() {} };
