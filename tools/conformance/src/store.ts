import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digestApiKey, type Limits, migrate, mintApiKey, openCore, readConfig } from "@petstore/core";
import { type EmbeddedPostgres, openEmbeddedPostgres } from "@petstore/embedded-postgres";

/** A PostgreSQL of the run's own, and the accounts in it. Disposing removes it. */
export interface Store extends AsyncDisposable {
  readonly databaseUrl: string;
  openAccount(limits: Limits): Promise<OpenedAccount>;
  addPets(count: number, name: string): Promise<void>;
  /** Really: connections end, and new ones are refused. */
  stop(): Promise<void>;
  /** On the same port, with everything that was in it. */
  restart(): Promise<void>;
}

interface OpenedAccount {
  readonly accountId: bigint;
  issueKey(life?: "valid" | "revoked" | "expired"): Promise<string>;
}

const log = { info() {}, warn() {}, error() {} };

export async function openStore(): Promise<Store> {
  const directory = await mkdtemp(join(tmpdir(), "petstore-conformance-"));
  let database = await openDatabase(directory);
  const { url, ownerUrl } = database;
  await migrate(ownerUrl);
  const core = await openCore(readConfig({ DATABASE_URL: url }), { log, now: Date.now });
  let accounts = 0;
  return {
    databaseUrl: url,
    async openAccount(customLimits) {
      accounts += 1;
      const account = await core.accounts.create({ name: `account ${accounts}`, plan: "enterprise", customLimits });
      if (account === undefined) throw new Error("the name of a new account is taken");
      return {
        accountId: account.id,
        async issueKey(life = "valid") {
          const key = mintApiKey("test", randomBytes);
          const expiry = life === "expired" && { expiresAt: new Date(Date.now() - 1_000) };
          const { id } = await core.keys.add({ accountId: account.id, digest: digestApiKey(key), ...expiry });
          if (life === "revoked") await core.keys.revoke(id);
          return key;
        },
      };
    },
    async addPets(count, name) {
      for (let index = 0; index < count; index += 1) {
        await core.catalogue.create({ accountId: 0n, input: { name, categoryId: BigInt(index) } });
      }
    },
    async stop() {
      await database[Symbol.asyncDispose]();
    },
    async restart() {
      database = await openDatabase(directory);
      if (database.url !== url) throw new Error("PostgreSQL is back on another port");
    },
    async [Symbol.asyncDispose]() {
      await core[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function openDatabase(directory: string): Promise<EmbeddedPostgres> {
  const opened = await openEmbeddedPostgres({ directory, durable: false });
  if (opened.kind === "in-use") throw new Error(`process ${opened.holderPid} uses a directory that was just created`);
  return opened.database;
}
