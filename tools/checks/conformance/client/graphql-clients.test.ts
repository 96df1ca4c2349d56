// Popular GraphQL clients, created as their documentation shows, without any code for this API.
import { hash } from "node:crypto";
import { ApolloClient, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { maxInt64 } from "@petstore/core";
import { shared } from "@petstore/harness";
import { Client, fetchExchange } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { ClientError, GraphQLClient } from "graphql-request";
import { describe, expect, it } from "vitest";
import { openRunningStore } from "../running-store.js";

const list = "query List($limit: Int!) { pets(limit: $limit) { id name } }";
const create = "mutation Create($input: NewPet!) { createPet(input: $input) { categoryId status } }";

interface ClientOptions {
  readonly url: string;
  readonly headers: Record<string, string>;
  /** Sends the hash of a document by GET, and the document only if the service does not have it. */
  readonly persistedFetch?: typeof fetch;
}

/** Returns the data of the response, or the extensions of its first error. */
type Execute = (document: string, variables: Readonly<Record<string, unknown>>) => Promise<unknown>;

function openApolloClient({ url: uri, headers, persistedFetch }: ClientOptions): Execute {
  const http = new HttpLink({ uri, headers, ...(persistedFetch && { fetch: persistedFetch }) });
  const sha256 = (text: string) => hash("sha256", text, "hex");
  const link = persistedFetch ? new PersistedQueryLink({ sha256, useGETForHashedQueries: true }).concat(http) : http;
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
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

function openUrql({ url, headers, persistedFetch }: ClientOptions): Execute {
  const client = new Client({
    url,
    preferGetMethod: false,
    fetchOptions: { headers },
    exchanges: persistedFetch
      ? [persistedExchange({ preferGetForPersistedQueries: true }), fetchExchange]
      : [fetchExchange],
    ...(persistedFetch && { fetch: persistedFetch }),
  });
  return async (document, variables) => {
    const isMutation = document.startsWith("mutation");
    const { data, error } = await (isMutation
      ? client.mutation(document, variables)
      : client.query(document, variables));
    if (error !== undefined && error.graphQLErrors.length === 0) throw error;
    return error?.graphQLErrors[0]?.extensions ?? data;
  };
}

function openGraphqlRequest({ url, headers }: ClientOptions): Execute {
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

const store = await shared(openRunningStore({ services: ["graphql"] }));

function optionsWith(apiKey: string): ClientOptions {
  return { url: `${store.originOf("graphql")}/graphql`, headers: { authorization: `Bearer ${apiKey}` } };
}

describe.each([
  ["Apollo Client", openApolloClient],
  ["urql", openUrql],
  ["graphql-request", openGraphqlRequest],
])("%s", (_name, open) => {
  it("creates a pet with an exact int64, and lists pets", async () => {
    const execute = open(optionsWith((await store.database.issueKey()).key));
    const created = await execute(create, { input: { name: "Rex", categoryId: `${maxInt64}` } });
    expect(created).toMatchObject({ createPet: { categoryId: `${maxInt64}`, status: "available" } });
    expect(await execute(list, { limit: 1 })).toMatchObject({ pets: [{ id: expect.any(String), name: "Rex" }] });
  });

  it("receives the code and the status of each error", async () => {
    const unknown = { code: "API_KEY_INVALID", status: 401 };
    expect(await open(optionsWith("nonsense"))(list, { limit: 1 })).toEqual(unknown);
    const { key } = await store.database.issueKey({ customLimits: { perMinute: 1_000, perDay: 1 } });
    const execute = open(optionsWith(key));
    expect(await execute(list, { limit: 0 })).toEqual({ code: "VALIDATION_FAILED", status: 400 });
    const refused = { code: "DAILY_QUOTA_EXCEEDED", status: 429, limit: 1, remaining: 0 };
    expect(await execute(list, { limit: 1 })).toMatchObject(refused);
  });
});

it.each([
  ["ApolloClient", openApolloClient],
  ["urql", openUrql],
])("%s sends the hash of a persisted query by GET, and its document once", async (name, open) => {
  const requests: string[] = [];
  const persistedFetch: typeof fetch = (input, init) => {
    requests.push(/[?&]query=|"query":/.test(`${input} ${init?.body}`) ? "document" : `hash by ${init?.method}`);
    return fetch(input, init);
  };
  const options = optionsWith((await store.database.issueKey()).key);
  for (let time = 0; time < 2; time += 1) {
    const execute = open({ ...options, persistedFetch });
    expect(await execute(`query ${name} { pets(limit: 1) { id } }`, {})).toEqual({ pets: expect.any(Array) });
  }
  expect(requests).toEqual(["hash by GET", "document", "hash by GET"]);
});
