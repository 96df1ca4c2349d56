import type { ApolloServerPlugin } from "@apollo/server";
import { type Answer, type CallOptions, openTestStore, type TestStore } from "@petstore/checks/test-store";
import { createGraphqlRouter, type OperationContext } from "@petstore/graphql";
import { shared } from "@petstore/harness";
import type { RouterDeps } from "@petstore/http";
import { expect } from "vitest";

interface AskOptions extends CallOptions {
  readonly variables?: unknown;
  readonly operationName?: string;
}

/** The store with the GraphQL API alone. */
export interface GraphqlStore extends TestStore {
  /** Sends this document by POST. */
  ask(query: string, options?: AskOptions): Promise<Answer>;
}

/** A store for all tests of a file or a suite. */
export async function openSharedStore(
  environment: Readonly<Record<string, string>> = {},
  plugins: readonly ApolloServerPlugin<OperationContext>[] = [],
): Promise<GraphqlStore> {
  const createRouter = (deps: RouterDeps) => createGraphqlRouter({ ...deps, plugins });
  const store = await shared(openTestStore([createRouter], environment));
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

/** The body of a response with one error. */
export function errorBody(status: number, code: string, message: unknown = expect.any(String)) {
  return { errors: [{ message, extensions: { code, status } }] };
}

interface GraphqlError {
  readonly message: string;
  readonly path?: unknown;
  readonly extensions: { readonly code: string; readonly status: number };
}
