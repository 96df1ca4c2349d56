import { randomBytes } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import {
  type Account,
  type Core,
  createAccountRepository,
  createKeyRepository,
  type Database,
  digestApiKey,
  type KeyRecord,
  type KeyScope,
  mintApiKey,
  visiblePrefix,
} from "../src/index.js";
import { useDatabase } from "./database-fixture.js";

export interface IssuedKey extends Pick<Core, "accounts" | "keys"> {
  readonly text: string;
  readonly digest: string;
  readonly key: KeyRecord;
  readonly account: Account;
}

/** A temporary database for the tests of a file, and the repositories of an administrator. */
export interface StoredKeysFixture extends Pick<Core, "accounts" | "keys"> {
  readonly database: Database;
  readonly directUrl: string;
  /** A key of a new account. */
  issueKey(given?: { readonly name?: string; readonly scope?: KeyScope }): Promise<IssuedKey>;
  execute(sql: string): Promise<Record<string, unknown>[]>;
}

export const actor = "ada@office";

export function useStoredKeys(): StoredKeysFixture {
  const server = useDatabase();
  let database: Database;
  beforeAll(() => {
    const timeouts = { acquireTimeoutMs: 15_000, readTimeoutMs: 15_000, writeTimeoutMs: 15_000 };
    database = server.open({ poolSize: 2, ...timeouts });
  });
  afterAll(() => database?.[Symbol.asyncDispose]());

  const store: StoredKeysFixture = {
    get database() {
      return database;
    },
    get accounts() {
      return createAccountRepository(database, actor);
    },
    get keys() {
      return createKeyRepository(database, actor);
    },
    get directUrl() {
      return server.directUrl;
    },
    async issueKey(given) {
      const { accounts, keys } = store;
      const account = await accounts.create({ name: `account ${randomBytes(8).toString("hex")}`, plan: "free" });
      if (account === undefined) throw new Error("the name was taken");
      const text = mintApiKey("live", randomBytes);
      const stored = storedText(text);
      const key = await keys.add({ accountId: account.id, ...stored, ...given });
      return { accounts, keys, account, key, text, digest: stored.digest };
    },
    execute: (sql) => server.execute(sql),
  };
  return store;
}

/** The parts of a key that the database stores. */
export function storedText(text: string = mintApiKey("live", randomBytes)) {
  return { digest: digestApiKey(text), prefix: visiblePrefix(text) };
}
