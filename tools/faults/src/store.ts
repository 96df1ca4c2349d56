import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createAccountRepository,
  createKeyRepository,
  digestApiKey,
  type Limits,
  migrate,
  mintApiKey,
  openDatabase,
  readConfig,
} from "@petstore/core";
import { openEmbeddedPostgres } from "@petstore/embedded-postgres";

/** A database with the tables of the store, and what the rows need of it. */
export interface Store extends AsyncDisposable {
  readonly databaseUrl: string;
  /** A key of a new account that may spend that much. */
  issueKey(limits: Limits): Promise<{ readonly apiKey: string; readonly accountId: string }>;
  /** How many pets have each of these names; absent where there is none. */
  countByName(names: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

const log = { info() {}, warn() {}, error() {} };

/** One PostgreSQL for the whole run. Disposing removes it. */
export async function openStore(): Promise<Store> {
  const directory = await mkdtemp(join(tmpdir(), "petstore-faults-"));
  const opened = await openEmbeddedPostgres({ directory, durable: false });
  if (opened.kind === "in-use") throw new Error(`process ${opened.holderPid} uses a directory that was just created`);
  const store = await openStoreAt(opened.database.ownerUrl);
  return {
    ...store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await opened.database[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** On a database that somebody else runs. */
export async function openStoreAt(databaseUrl: string): Promise<Store> {
  await migrate(databaseUrl);
  const url = new URL(databaseUrl);
  // What harms the connections of the services spares these.
  url.searchParams.set("application_name", "petstore-harness");
  const config = readConfig({ DATABASE_URL: url.href }).database;
  const database = openDatabase({ ...config, readTimeoutMs: 30_000, writeTimeoutMs: 30_000 }, log);
  const accountsTable = createAccountRepository(database);
  const keys = createKeyRepository(database);
  let accounts = 0;
  return {
    databaseUrl,
    async issueKey(customLimits) {
      accounts += 1;
      const account = await accountsTable.create({ name: `account ${accounts}`, plan: "enterprise", customLimits });
      if (account === undefined) throw new Error("the name of a new account is taken");
      const apiKey = mintApiKey("test", randomBytes);
      await keys.add({ accountId: account.id, digest: digestApiKey(apiKey) });
      return { apiKey, accountId: `${account.id}` };
    },
    async countByName(names) {
      const rows = await database.run<readonly string[], { readonly name: string; readonly count: bigint }>(
        countNames,
        names,
      );
      return new Map(rows.map(({ name, count }) => [name, Number(count)]));
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

const countNames = {
  name: "",
  text: "select name, count(*) from pets where name = any($1) group by name",
  access: "write" as const,
  bind: (names: readonly string[]) => [names],
};
