import { randomBytes } from "node:crypto";
import { type Core, digestApiKey, mintApiKey } from "@petstore/core";

export const demoAccountName = "demo";

/** On the first start: an account to try the store with, and its key, which exists nowhere else. Later: `undefined`. */
export async function createDemoAccount({
  accounts,
  keys,
}: Pick<Core, "accounts" | "keys">): Promise<string | undefined> {
  const created = await accounts.create({ name: demoAccountName, plan: "free" });
  const account = created ?? (await accounts.findByName(demoAccountName));
  // A first start that was killed may have left the account without its key.
  if (account === undefined || (await keys.list(account.id)).length > 0) return undefined;
  const key = mintApiKey("test", randomBytes);
  await keys.add({ accountId: account.id, digest: digestApiKey(key) });
  return key;
}
