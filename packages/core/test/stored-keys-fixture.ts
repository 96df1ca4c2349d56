import { randomBytes } from "node:crypto";
import { shared } from "@petstore/harness";
import { digestApiKey, visiblePrefix } from "../src/access/api-key.js";
import { createAccountRepository, createKeyRepository, type KeyRecord, mintApiKey } from "../src/index.js";
import { limitedTo, openSharedDatabase } from "./database-fixture.js";

export const actor = "ada@office";
export const unknownId = 9_999_999n;

/** A temporary database for the tests of a file, and the repositories of an administrator. */
export async function openStoredKeys() {
  const server = await openSharedDatabase();
  const database = await shared(server.open({ poolSize: 2, ...limitedTo(15_000) }));
  const accounts = createAccountRepository(database, actor);
  const keys = createKeyRepository(database, actor);

  /** Adds a key of a new account. */
  async function issueKey(given?: Partial<Pick<KeyRecord, "name" | "scope" | "expiresAt">>) {
    const account = await accounts.create({ name: `account ${randomBytes(8).toString("hex")}`, plan: "free" });
    if (account === undefined) throw new Error("the name was taken");
    const stored = newKey();
    const key = await keys.add({ accountId: account.id, ...stored, ...given });
    return { ...stored, account, key };
  }
  return { ...server, database, accounts, keys, issueKey };
}

/** A new key, and the parts of it that the database stores. */
export function newKey() {
  const text = mintApiKey("live", randomBytes);
  return { text, digest: digestApiKey(text), prefix: visiblePrefix(text) };
}
