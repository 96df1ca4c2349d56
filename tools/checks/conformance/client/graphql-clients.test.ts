// Popular GraphQL clients, created as their documentation shows, without any code for this API; and the audits of the
// graphql-http package: each MUST and each SHOULD of GraphQL over HTTP.
import { hash } from "node:crypto";
import { ApolloClient, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { maxInt64 } from "@petstore/core";
import { shared } from "@petstore/harness";
import { Client, CombinedError, fetchExchange } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { serverAudits } from "graphql-http";
import { ClientError, GraphQLClient } from "graphql-request";
import { describe, expect, it } from "vitest";
import { openRunningStore } from "../running-store.js";

const store = await shared(openRunningStore({ services: ["graphql"] }));
const url = `${store.originOf("graphql")}/graphql`;
const { key } = await store.database.issueKey();

const list = "query List($limit: Int!) { pets(limit: $limit) { id name } }";
const create = "mutation Create($input: NewPet!) { createPet(input: $input) { categoryId status } }";

interface ClientOptions {
  readonly apiKey: string;
  /** Sends the hash of a document by GET, and the document only if the service does not have it. */
  readonly persistedFetch?: typeof fetch;
}

/** Returns the data of the response, or rejects with the error class of the client. */
type Execute = (document: string, variables: Readonly<Record<string, unknown>>) => Promise<unknown>;

function openApolloClient({ apiKey, persistedFetch }: ClientOptions): Execute {
  const headers = { authorization: `Bearer ${apiKey}` };
  const http = new HttpLink({ uri: url, headers, ...(persistedFetch && { fetch: persistedFetch }) });
  const sha256 = (text: string) => hash("sha256", text, "hex");
  const link = persistedFetch ? new PersistedQueryLink({ sha256, useGETForHashedQueries: true }).concat(http) : http;
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  return async (document, variables) => {
    const options = { variables, fetchPolicy: "no-cache" } as const;
    const { data } = document.startsWith("mutation")
      ? await client.mutate({ mutation: gql(document), ...options })
      : await client.query({ query: gql(document), ...options });
    return data;
  };
}

function openUrql({ apiKey, persistedFetch }: ClientOptions): Execute {
  const persisted = persistedExchange({ preferGetForPersistedQueries: true });
  const client = new Client({
    url,
    preferGetMethod: false,
    fetchOptions: { headers: { authorization: `Bearer ${apiKey}` } },
    exchanges: persistedFetch ? [persisted, fetchExchange] : [fetchExchange],
    ...(persistedFetch && { fetch: persistedFetch }),
  });
  return async (document, variables) => {
    const isMutation = document.startsWith("mutation");
    const { data, error } = await (isMutation
      ? client.mutation(document, variables)
      : client.query(document, variables));
    if (error !== undefined) throw error;
    return data;
  };
}

function openGraphqlRequest({ apiKey }: ClientOptions): Execute {
  const client = new GraphQLClient(url, { headers: { authorization: `Bearer ${apiKey}` } });
  return (document, variables) => client.request(document, variables);
}

/** The extensions of the first error. */
function extensionsOf(error: unknown): unknown {
  if (CombinedGraphQLErrors.is(error)) return error.errors[0]?.extensions;
  if (error instanceof CombinedError) return error.graphQLErrors[0]?.extensions;
  if (error instanceof ClientError) return error.response.errors?.[0]?.extensions;
  throw error;
}

describe.each([
  ["Apollo Client", openApolloClient],
  ["urql", openUrql],
  ["graphql-request", openGraphqlRequest],
])("%s", (_name, open) => {
  it("creates a pet with an exact int64, and lists pets", async () => {
    const execute = open({ apiKey: key });
    const created = await execute(create, { input: { name: "Rex", categoryId: `${maxInt64}` } });
    expect(created).toMatchObject({ createPet: { categoryId: `${maxInt64}`, status: "available" } });
    expect(await execute(list, { limit: 1 })).toMatchObject({ pets: [{ id: expect.any(String), name: "Rex" }] });
  });

  it("receives the code and the status of each error", async () => {
    const oneADay = await store.database.issueKey({ customLimits: { perMinute: 1_000, perDay: 1 } });
    const listWith = (apiKey: string, limit: number) => open({ apiKey })(list, { limit }).catch(extensionsOf);
    expect(await listWith("nonsense", 1)).toEqual({ code: "API_KEY_INVALID", status: 401 });
    expect(await listWith(oneADay.key, 0)).toEqual({ code: "VALIDATION_FAILED", status: 400 });
    const refused = { code: "DAILY_QUOTA_EXCEEDED", status: 429, limit: 1, remaining: 0 };
    expect(await listWith(oneADay.key, 1)).toMatchObject(refused);
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
  for (let time = 0; time < 2; time += 1) {
    const execute = open({ apiKey: key, persistedFetch });
    expect(await execute(`query ${name} { pets(limit: 1) { id } }`, {})).toEqual({ pets: expect.any(Array) });
  }
  expect(requests).toEqual(["hash by GET", "document", "hash by GET"]);
});

describe("GraphQL over HTTP", () => {
  /** The audits send no API key. */
  const fetchWithKey: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${key}`);
    return fetch(input, { ...init, headers });
  };
  // A server need not do what it MAY do.
  const audits = serverAudits({ url, fetchFn: fetchWithKey }).filter(({ name }) => !name.startsWith("MAY "));

  for (const { id, name, fn } of audits) {
    it(`${id} ${name}`, async () => {
      expect(await fn()).toMatchObject({ status: "ok" });
    });
  }
});
