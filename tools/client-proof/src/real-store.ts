import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digestApiKey, type Limits, migrate, mintApiKey, openCore, openDatabase, readConfig } from "@petstore/core";
import { openEmbeddedPostgres } from "@petstore/embedded-postgres";

/** A PostgreSQL of its own, and what a proof needs of it. Disposing removes it. */
export interface RealStore extends AsyncDisposable {
  readonly databaseUrl: string;
  /** The API key of a new account: on Free, or with limits of its own. */
  issueKey(limits?: Limits): Promise<string>;
  /** How many pets have each of these names; absent where there is none. */
  countByName(names: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

const log = { info() {}, warn() {}, error() {} };

export async function openRealStore(): Promise<RealStore> {
  const directory = await mkdtemp(join(tmpdir(), "petstore-client-proof-"));
  const opened = await openEmbeddedPostgres({ directory, durable: false });
  if (opened.kind === "in-use") throw new Error(`process ${opened.holderPid} uses a directory that was just created`);
  const { url, ownerUrl } = opened.database;
  await migrate(ownerUrl);
  const config = readConfig({ DATABASE_URL: url });
  const core = await openCore(config, { log, now: Date.now });
  const database = openDatabase(config.database, log);
  let accounts = 0;
  return {
    databaseUrl: url,
    async issueKey(customLimits) {
      accounts += 1;
      const plan = customLimits === undefined ? "free" : "enterprise";
      const newAccount = { name: `account ${accounts}`, plan, ...(customLimits && { customLimits }) } as const;
      const account = await core.accounts.create(newAccount);
      if (account === undefined) throw new Error("the name of a new account is taken");
      const apiKey = mintApiKey("test", randomBytes);
      await core.keys.add({ accountId: account.id, digest: digestApiKey(apiKey) });
      return apiKey;
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
  access: "write" as const,
  bind: (names: readonly string[]) => [names],
};
