import { type StandaloneStore, startStandaloneStoreIn } from "@petstore/harness/processes";
import { type Api, rest } from "../environment/apis.js";
import type { Environment } from "../environment/environment.js";

/** Starts the program of `npm start` in this directory. The environment stops it in order, so that it ends its PostgreSQL. */
export async function startStore(
  environment: Environment,
  directory: string,
): Promise<StandaloneStore & { readonly api: Api }> {
  const store = environment.use(await startStandaloneStoreIn(directory, { BAN_STRIKES: "0" }));
  // The first start shows the key of the demo account on purpose.
  environment.keepLog(store.output, store.demoKey);
  return { ...store, api: rest };
}
