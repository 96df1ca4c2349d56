import { type Account, createAccountRepository, type Database } from "@petstore/core";
import { Refusal } from "./command-context.js";

export async function findAccount(database: Database, name: string): Promise<Account> {
  return (await createAccountRepository(database).findByName(name)) ?? noSuchAccount();
}

export function noSuchAccount(): never {
  throw new Refusal("There is no account of this name; petstore account list shows the names.");
}
