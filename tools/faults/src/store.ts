import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digestApiKey, type Limits, migrate, mintApiKey, openCore, openDatabase, readConfig } from "@petstore/core";
import { openEmbeddedDatabase } from "@petstore/embedded-database";

/** One PostgreSQL for the whole run, and what the rows need of it. Disposing removes it. */
export interface Store extends AsyncDisposable {
  readonly databaseUrl: string;
  /** A key of a new account that may spend that much. */
  issueKey(limits: Limits): Promise<{ readonly apiKey: string; readonly accountId: string }>;
  /** How many animals have each of these names; absent where there is none. */
  countByName(names: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

const log = { info() {}, warn() {}, error() {} };

export async function openStore(): Promise<Store> {
  const directory = await mkdtemp(join(tmpdir(), "petstore-faults-"));
  const opened = await openEmbeddedDatabase({ directory, durable: false });
  if (opened.kind === "in-use") throw new Error(`process ${opened.holderPid} uses a directory that was just created`);
  const { url } = opened.database;
  await migrate(url);
  const config = readConfig({ DATABASE_URL: url });
  const core = await openCore(config, { log, now: Date.now });
  const database = openDatabase({ ...config.database, statementTimeoutMs: 30_000 }, log);
  let accounts = 0;
  return {
    databaseUrl: url,
    async issueKey(customLimits) {
      accounts += 1;
      const account = await core.accounts.create({ name: `account ${accounts}`, plan: "enterprise", customLimits });
      if (account === undefined) throw new Error("the name of a new account is taken");
      const apiKey = mintApiKey("test", randomBytes);
      await core.keys.add({ accountId: account.id, digest: digestApiKey(apiKey) });
      return { apiKey, accountId: `${account.id}` };
    },
    async countByName(names) {
      const rows = await database.run<readonly string[], { readonly name: string; readonly count: bigint }>(
        countNames,
        names,
      );
      return new Map(rows.map(({ name, count }) => [name, Number(count)]));
    },
    async [Symbol.asyncDispose]() {
      await core[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      await opened.database[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const countNames = {
  name: "",
  text: "select name, count(*) from pets where name = any($1) group by name",
  bind: (names: readonly string[]) => [names],
};
