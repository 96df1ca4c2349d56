import * as store from "@petstore/checks/test-store";
import { shared } from "@petstore/harness";
import { createRestApi } from "@petstore/rest";

export type { Answer, CallOptions, TestStore } from "@petstore/checks/test-store";

/** The store with the REST API alone. */
export function openTestStore(environment?: Readonly<Record<string, string>>) {
  return store.openTestStore([createRestApi], environment);
}

/** The same for all tests of a file or a suite. */
export function openSharedStore(environment?: Readonly<Record<string, string>>) {
  return shared(openTestStore(environment));
}
