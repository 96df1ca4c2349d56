import { hostname, userInfo } from "node:os";
import {
  type Account,
  type Core,
  createAccountRepository,
  createClient,
  createKeyRepository,
  type Database,
  type DatabaseConfig,
  openDatabase,
  Problem,
  readDatabaseConfig,
} from "@petstore/core";
import type { Client } from "pg";
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

/** If the environment names no database, adds the database of the running standalone store. `undefined` without any. */
export async function databaseEnvironment(context: CommandContext): Promise<CommandContext["environment"] | undefined> {
  const { environment } = context;
  if (environment.DATABASE_URL || environment.DATABASE_URL_FILE) return environment;
  const url = await context.standaloneUrl();
  return url === undefined ? undefined : { ...environment, DATABASE_URL: url };
}

export async function requireDatabaseConfig(context: CommandContext): Promise<DatabaseConfig> {
  const environment = await databaseEnvironment(context);
  if (environment !== undefined) return readDatabaseConfig(environment);
  throw new Refusal("There is no database: start the store with npm start, or set DATABASE_URL.");
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
    // A command reports its own failures.
    await using database = openDatabase(patient, { info() {}, warn() {}, error() {} });
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
  const client = createClient({ connectionString: url, application_name: applicationName, ...timeouts });
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

/** One line for the operator about work on the database that failed, without the password. */
export function explainDatabase(error: unknown, url: string): string {
  const cause = error instanceof Problem ? (error.cause ?? error) : error;
  const code = cause instanceof Error && "code" in cause ? `${cause.code}` : "";
  const where = URL.canParse(url) ? new URL(url).host : "its address";
  const known = byCode[code] ?? byCode[code.slice(0, 2)];
  if (known !== undefined) return known(where);
  const message = cause instanceof Error ? cause.message || code || cause.name : `${cause}`;
  return `The database at ${where} cannot be used: ${message.replace(/\.$/, "")}.`;
}

/** By the code of the system call, the SQLSTATE, or its class. */
const byCode: Readonly<Record<string, (where: string) => string>> = {
  ECONNREFUSED: (where) => `Nothing listens at ${where}: start PostgreSQL there, or correct DATABASE_URL.`,
  ECONNRESET: (where) => `What listens at ${where} hung up: it may be no PostgreSQL, or one that is stopping.`,
  ENOTFOUND: (where) => `The host of ${where} is not known: correct DATABASE_URL.`,
  EAI_AGAIN: (where) => `The host of ${where} cannot be looked up now: try again, or correct DATABASE_URL.`,
  "28": (where) => `The database at ${where} refuses the user or the password of DATABASE_URL.`,
  "3D000": (where) =>
    `The database that DATABASE_URL names does not exist at ${where}: create it, or correct the name.`,
  "42P01": () => "The database has no tables yet: run petstore migrate first.",
  "42703": () => "The database has an older schema: run petstore migrate first.",
  "42501": () => "The user of DATABASE_URL may not do this in its database: grant it, or use the owner.",
  "53300": (where) =>
    `The database at ${where} has no connection left: raise max_connections, or lower DATABASE_POOL_SIZE.`,
  "57P03": (where) => `The database at ${where} is starting up or shutting down: try again shortly.`,
};
