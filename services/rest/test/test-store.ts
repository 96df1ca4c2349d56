import { createRestRouter } from "@petstore/rest";
import * as store from "@petstore/test-store";

export type { Answer, CallOptions, TestStore } from "@petstore/test-store";
export type TestStoreOptions = Omit<store.TestStoreOptions, "routers">;

/** The store with the REST API alone. */
export function openTestStore(options: TestStoreOptions = {}): Promise<store.TestStore> {
  return store.openTestStore({ ...options, routers: [createRestRouter] });
}
