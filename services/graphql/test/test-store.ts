import type { ApolloServerPlugin } from "@apollo/server";
import { createGraphqlApi, type OperationContext } from "@petstore/graphql";
import { shared } from "@petstore/harness";
import type { ApiDeps } from "@petstore/http";
import { type Answer, type CallOptions, openTestStore } from "@petstore/test-store";
import type { GraphQLFormattedError } from "graphql";
import { expect } from "vitest";

interface AskOptions extends CallOptions {
  readonly variables?: unknown;
  readonly operationName?: string;
}

/** A store with the GraphQL API alone, for all tests of a file or a suite. */
export async function openSharedStore(
  environment: Readonly<Record<string, string>> = {},
  plugins: readonly ApolloServerPlugin<OperationContext>[] = [],
) {
  const createApi = (deps: ApiDeps) => createGraphqlApi(deps, plugins);
  const store = await shared(openTestStore([createApi], environment));
  return {
    ...store,
    /** Sends this document by POST. */
    ask: (query: string, { variables, operationName, ...rest }: AskOptions = {}) =>
      store.call("POST", "/graphql", { body: JSON.stringify({ query, variables, operationName }), ...rest }),
  };
}

/** The errors of a response that has errors. */
export function errorsOf({ json }: Answer): readonly GraphQLFormattedError[] {
  return (json as { errors: GraphQLFormattedError[] }).errors;
}

/** The body of a response with one error. */
export function errorBody(status: number, code: string, message: unknown = expect.any(String)) {
  return { errors: [{ message, extensions: { code, status } }] };
}
