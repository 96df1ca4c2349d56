import { hostname, userInfo } from "node:os";
import {
  type Account,
  type Core,
  createAccountRepository,
  createKeyRepository,
  type Database,
  type DatabaseConfig,
  openDatabase,
  readDatabaseConfig,
} from "@petstore/core";
import { Client } from "pg";
import { explainDatabase } from "./database-fault.js";
import type { Output } from "./output.js";

/** Everything that a command reads or writes outside PostgreSQL and Redis. */
export interface CommandContext {
  /** Names and values as in `process.env`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The database of the standalone store; `undefined` when none is running. */
  standaloneUrl(): Promise<string | undefined>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** From a cryptographic source. */
  readonly randomBytes: (size: number) => Buffer;
  /** The whole standard input. */
  readInput(): Promise<string>;
  print(text: string): void;
  complain(text: string): void;
}

/** Runs the work of a command on the database, and prints its output. */
export type Run = (work: (opened: OpenedDatabase) => Promise<Output>) => Promise<void>;

/** The database of a command. Its changes are logged with the actor of the command. */
export interface OpenedDatabase extends Pick<Core, "accounts" | "keys"> {
  readonly database: Database;
  /** Does not lead through a PgBouncer, if DATABASE_DIRECT_URL is set. */
  readonly directUrl: string;
}

/** The failure of a command. The message is one line for the operator; the exit code is 1. */
export class Refusal extends Error {}

/** The environment. If it names no database, the database of the running standalone store. */
export async function effectiveEnvironment(context: CommandContext): Promise<CommandContext["environment"]> {
  const { environment } = context;
  if (namesDatabase(environment)) return environment;
  return { ...environment, DATABASE_URL: await context.standaloneUrl() };
}

export async function requireDatabaseConfig(context: CommandContext): Promise<DatabaseConfig> {
  const environment = await effectiveEnvironment(context);
  if (!namesDatabase(environment))
    throw new Refusal("There is no database: start the store with npm start, or set DATABASE_URL.");
  return readDatabaseConfig(environment);
}

export function namesDatabase(environment: CommandContext["environment"]): boolean {
  return Boolean(environment.DATABASE_URL || environment.DATABASE_URL_FILE);
}

/** Opens the database for one command, with longer timeouts than for a request. */
export async function withDatabase(
  context: CommandContext,
  work: (opened: OpenedDatabase) => Promise<Output>,
): Promise<Output> {
  const config = await requireDatabaseConfig(context);
  const actor = actorOf(context);
  return await explainingFaults(config.url, async () => {
    const patient = { ...config, poolSize: 2, acquireTimeoutMs: 5_000, readTimeoutMs: 10_000, writeTimeoutMs: 10_000 };
    await using database = openDatabase(patient, silent);
    return await work({
      database,
      accounts: createAccountRepository(database, actor),
      keys: createKeyRepository(database, actor),
      directUrl: config.directUrl ?? config.url,
    });
  });
}

/** Opens one connection for the work. Rejects with pg's error if the database cannot be reached. */
export async function withClient<Result>(
  url: string,
  applicationName: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const timeouts = { connectionTimeoutMillis: 5_000, query_timeout: 5_000 };
  const client = new Client({ connectionString: url, application_name: applicationName, ...timeouts });
  // The query that fails reports the fault.
  client.on("error", () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

export async function findAccount({ accounts }: OpenedDatabase, name: string): Promise<Account> {
  return (await accounts.findByName(name)) ?? noSuchAccount();
}

export function noSuchAccount(): never {
  throw new Refusal("No account has this name; petstore account list shows the names.");
}

/** Characters that end a line, or change the order in which a terminal shows the text after them. */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** True if the text fits on a line of a table, and holds no API key by mistake. Names and actors are stored as they are. */
export function isShowable(text: string): boolean {
  return text.length <= 255 && !controls.test(text) && !/pets_(live|test)_[0-9A-Za-z]{32}/.test(text);
}

/** The person who runs the command: PETSTORE_ACTOR or, without it, the user and the host of the operating system. */
function actorOf({ environment }: CommandContext): string {
  const actor = environment.PETSTORE_ACTOR || `${userName()}@${hostname()}`;
  if (!isShowable(actor)) {
    throw new Refusal("PETSTORE_ACTOR has at most 255 characters, no control characters, and is no API key.");
  }
  return actor;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container, the user id may have no name.
    return `uid ${process.getuid?.()}`;
  }
}

/** Turns an error of work on the database into one line for the operator. */
export async function explainingFaults<Result>(url: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal(explainDatabase(error, url), { cause: error });
  }
}

/** A command reports its own failures. */
const silent: { info(): void; warn(): void; error(): void } = { info() {}, warn() {}, error() {} };
