import * as store from "@petstore/checks/test-store";
import { createRestRouter } from "@petstore/rest";
import { afterAll } from "vitest";

export type { Answer, CallOptions, TestStore } from "@petstore/checks/test-store";

type Environment = store.TestStoreOptions["environment"];

/** The store with the REST API alone. */
export function openTestStore(environment: Environment = {}): Promise<store.TestStore> {
  return store.openTestStore({ environment, routers: [createRestRouter] });
}

/** The same for all tests of a file or a suite. */
export async function openSharedStore(environment: Environment = {}): Promise<store.TestStore> {
  const opened = await openTestStore(environment);
  afterAll(() => opened[Symbol.asyncDispose]());
  return opened;
}
