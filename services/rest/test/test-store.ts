import { shared } from "@petstore/harness";
import { createRestApi } from "@petstore/rest";
import * as store from "@petstore/test-store";

export type { Answer, CallOptions, TestStore } from "@petstore/test-store";

/** The program of the service. */
export const main: URL = new URL("../dist/main.js", import.meta.url);

/** The store with the REST API alone. */
export function openTestStore(environment?: Readonly<Record<string, string>>) {
  return store.openTestStore([createRestApi], environment);
}

/** The same for all tests of a file or a suite. */
export function openSharedStore(environment?: Readonly<Record<string, string>>) {
  return shared(openTestStore(environment));
}
