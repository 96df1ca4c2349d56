import { createGraphqlRouter } from "@petstore/graphql";
import {
  type Answer,
  type CallOptions,
  openTestStore,
  type TestStore,
  type TestStoreOptions,
} from "@petstore/test-store";

interface AskOptions extends CallOptions {
  readonly variables?: unknown;
  readonly operationName?: string;
}

/** The store with the GraphQL API alone. */
export interface GraphqlStore extends TestStore {
  /** Sends this document by POST. */
  ask(query: string, options?: AskOptions): Promise<Answer>;
}

export async function openGraphqlStore(options: Omit<TestStoreOptions, "routers"> = {}): Promise<GraphqlStore> {
  const store = await openTestStore({ ...options, routers: [createGraphqlRouter] });
  return {
    ...store,
    ask: (query, { variables, operationName, ...rest } = {}) =>
      store.call("POST", "/graphql", { body: JSON.stringify({ query, variables, operationName }), ...rest }),
  };
}

/** The errors of a response that has errors. */
export function errorsOf({ json }: Answer): readonly GraphqlError[] {
  return (json as { errors: GraphqlError[] }).errors;
}

interface GraphqlError {
  readonly message: string;
  readonly locations?: unknown;
  readonly path?: unknown;
  readonly extensions: { readonly code: string; readonly status: number };
}
