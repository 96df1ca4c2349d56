import { randomBytes } from "node:crypto";
import { type Core, type KeyMode, mintApiKey } from "@petstore/core";

const demoAccountName = "demo";

/** Creates an account to try the store with, and returns its key. Returns `undefined` after the first start. */
export async function createDemoAccount({ accounts, keys }: Core, mode: KeyMode): Promise<string | undefined> {
  const created = await accounts.create({ name: demoAccountName, plan: "free" });
  const account = created ?? (await accounts.findByName(demoAccountName));
  // A first start that was killed may have left the account without its key.
  if (account === undefined || (await keys.list(account.id)).length > 0) return undefined;
  const key = mintApiKey(mode, randomBytes);
  await keys.add({ accountId: account.id, text: key, name: demoAccountName });
  return key;
}

/**
 * The text for the person who started the store: its address, and lines that work when pasted. `mode` is the mode of the keys
 * of the demo account.
 */
export function welcome(url: string, directory: string, mode: KeyMode, demoKey: string | undefined): string {
  const addresses = `
The pet store is ready at ${url}/v1, and for GraphQL at ${url}/graphql
Read and try both at ${url}/
Its data is in ${directory}
`;
  if (demoKey === undefined) {
    return `${addresses}
The key of the demo account was shown at the first start. For another one:

  node tools/admin/bin/petstore.mjs key issue ${demoAccountName}${mode === "test" ? " --test" : ""}
`;
  }
  return `${addresses}
This is the key of the account "${demoAccountName}", plan Free. It is shown only now:

  ${demoKey}

Add a pet, and list them:

  curl -H "Authorization: Bearer ${demoKey}" -H "Content-Type: application/json" \\
       -d '{"name": "Rex", "categoryId": 1}' ${url}/v1/pets

  curl -i -H "Authorization: Bearer ${demoKey}" ${url}/v1/pets

  curl -i -H "Authorization: Bearer ${demoKey}" -H "Content-Type: application/json" \\
       -d '{"query": "{ pets { id name categoryId status } }"}' ${url}/graphql
`;
}
