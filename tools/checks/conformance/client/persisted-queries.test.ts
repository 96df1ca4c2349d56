// Popular clients send the hash of a document, and the document only if the service does not have it.
import { hash } from "node:crypto";
import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { Client, fetchExchange } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRunningStore, type RunningStore } from "../running-store.js";

let store: RunningStore;
let url: string;
let headers: Readonly<Record<string, string>>;

beforeAll(async () => {
  store = await openRunningStore({ services: ["graphql"] });
  url = `${store.originOf("graphql")}/graphql`;
  headers = { authorization: `Bearer ${(await store.database.issueKey()).key}` };
});
afterAll(() => store?.[Symbol.asyncDispose]());

/** Lists pets once, and says for each request whether it had the document. */
type ListPets = (document: string, isGet: boolean, sent: typeof fetch) => Promise<unknown>;

const listWithApollo: ListPets = async (document, isGet, sent) => {
  const persisted = new PersistedQueryLink({
    sha256: (text) => hash("sha256", text, "hex"),
    useGETForHashedQueries: isGet,
  });
  const link = persisted.concat(new HttpLink({ uri: url, headers, fetch: sent }));
  return (await new ApolloClient({ link, cache: new InMemoryCache() }).query({ query: gql(document) })).data;
};

const listWithUrql: ListPets = async (document, isGet, sent) => {
  const exchanges = [persistedExchange({ preferGetForPersistedQueries: isGet }), fetchExchange];
  const client = new Client({ url, exchanges, fetch: sent, fetchOptions: { headers }, preferGetMethod: false });
  return (await client.query(document, {}).toPromise()).data;
};

describe.each<[string, ListPets]>([
  ["Apollo Client", listWithApollo],
  ["urql", listWithUrql],
])("%s", (name, list) => {
  it.each([
    ["POST", false],
    ["GET", true],
  ])("sends a persisted query by %s", async (method, isGet) => {
    const document = `query ${name.replace(" ", "")}${method} { pets(limit: 1) { id } }`;
    const requests: { readonly method: string; readonly hasDocument: boolean }[] = [];
    const sent: typeof fetch = (input, init) => {
      const { searchParams } = new URL(`${input}`);
      const hasDocument = searchParams.has("query") || /"query":/.test(`${init?.body}`);
      requests.push({ method: init?.method ?? "GET", hasDocument });
      return fetch(input, init);
    };
    expect(await list(document, isGet, sent)).toEqual({ pets: [] });
    expect(await list(document, isGet, sent)).toEqual({ pets: [] });
    expect(requests.map(({ hasDocument }) => hasDocument)).toEqual([false, true, false]);
    expect([requests[0]?.method, requests[2]?.method]).toEqual([method, method]);
  });
});
