import type { Account, Core } from "@petstore/core";
import { Refusal } from "./command-context.js";

export async function findAccount({ accounts }: Pick<Core, "accounts">, name: string): Promise<Account> {
  return (await accounts.findByName(name)) ?? noSuchAccount();
}

export function noSuchAccount(): never {
  throw new Refusal("No account has this name; petstore account list shows the names.");
}
