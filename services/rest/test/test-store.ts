import * as store from "@petstore/checks/test-store";
import { shared } from "@petstore/harness";
import { createRestRouter } from "@petstore/rest";

export type { Answer, CallOptions, TestStore } from "@petstore/checks/test-store";

type Environment = Readonly<Record<string, string>>;

/** The store with the REST API alone. */
export function openTestStore(environment?: Environment): Promise<store.TestStore> {
  return store.openTestStore([createRestRouter], environment);
}

/** The same for all tests of a file or a suite. */
export function openSharedStore(environment?: Environment): Promise<store.TestStore> {
  return shared(openTestStore(environment));
}
