// Popular GraphQL clients, created as their documentation shows, without any code for this API.
import { ApolloClient, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { maxInt64 } from "@petstore/core";
import { Client, fetchExchange } from "@urql/core";
import { ClientError, GraphQLClient } from "graphql-request";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRunningStore, type RunningStore } from "../running-store.js";

const list = "query List($limit: Int!) { pets(limit: $limit) { id name } }";
const create = "mutation Create($input: NewPet!) { createPet(input: $input) { categoryId status } }";

/** Returns the data of the response, or the extensions of its first error. */
type Execute = (document: string, variables: Readonly<Record<string, unknown>>) => Promise<unknown>;

function openApolloClient(uri: string, headers: Record<string, string>): Execute {
  const client = new ApolloClient({ link: new HttpLink({ uri, headers }), cache: new InMemoryCache() });
  return async (document, variables) => {
    try {
      const options = { variables, fetchPolicy: "no-cache" } as const;
      const isMutation = document.startsWith("mutation");
      const { data } = isMutation
        ? await client.mutate({ mutation: gql(document), ...options })
        : await client.query({ query: gql(document), ...options });
      return data;
    } catch (error) {
      if (!CombinedGraphQLErrors.is(error)) throw error;
      return error.errors[0]?.extensions;
    }
  };
}

function openUrql(url: string, headers: Record<string, string>): Execute {
  const client = new Client({ url, exchanges: [fetchExchange], preferGetMethod: false, fetchOptions: { headers } });
  return async (document, variables) => {
    const isMutation = document.startsWith("mutation");
    const { data, error } = await (isMutation
      ? client.mutation(document, variables)
      : client.query(document, variables));
    if (error !== undefined && error.graphQLErrors.length === 0) throw error;
    return error?.graphQLErrors[0]?.extensions ?? data;
  };
}

function openGraphqlRequest(url: string, headers: Record<string, string>): Execute {
  const client = new GraphQLClient(url, { headers });
  return async (document, variables) => {
    try {
      return await client.request(document, variables);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      return error.response.errors?.[0]?.extensions;
    }
  };
}

let store: RunningStore;
beforeAll(async () => {
  store = await openRunningStore({ services: ["graphql"] });
});
afterAll(() => store?.[Symbol.asyncDispose]());

describe.each([
  ["Apollo Client", openApolloClient],
  ["urql", openUrql],
  ["graphql-request", openGraphqlRequest],
])("%s", (_name, open) => {
  const openWith = (apiKey: string): Execute =>
    open(`${store.originOf("graphql")}/graphql`, { authorization: `Bearer ${apiKey}` });

  it("creates a pet with an exact int64, and lists pets", async () => {
    const execute = openWith((await store.database.issueKey()).key);
    const created = await execute(create, { input: { name: "Rex", categoryId: `${maxInt64}` } });
    expect(created).toMatchObject({ createPet: { categoryId: `${maxInt64}`, status: "available" } });
    expect(await execute(list, { limit: 1 })).toMatchObject({ pets: [{ id: expect.any(String), name: "Rex" }] });
  });

  it("receives the code and the status of each error", async () => {
    expect(await openWith("nonsense")(list, { limit: 1 })).toEqual({ code: "API_KEY_INVALID", status: 401 });
    const execute = openWith((await store.database.issueKey({ customLimits: { perMinute: 1_000, perDay: 1 } })).key);
    expect(await execute(list, { limit: 0 })).toEqual({ code: "VALIDATION_FAILED", status: 400 });
    const refused = { code: "DAILY_QUOTA_EXCEEDED", status: 429, limit: 1, remaining: 0 };
    expect(await execute(list, { limit: 1 })).toMatchObject(refused);
  });
});
