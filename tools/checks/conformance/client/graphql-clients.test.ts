// GraphQL clients without any code for this API; and the audits of the graphql-http package: each MUST and each SHOULD of
// GraphQL over HTTP. The quickstart, whose examples tools/checks/guides runs, uses Apollo Client and urql.
import { hash } from "node:crypto";
import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { maxInt64 } from "@petstore/core";
import { shared } from "@petstore/harness";
import { Client, fetchExchange } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { serverAudits } from "graphql-http";
import { ClientError, GraphQLClient } from "graphql-request";
import { describe, expect, it } from "vitest";
import { openRunningStore } from "../running-store.js";

const store = await shared(openRunningStore({ services: ["graphql"] }));
const url = `${store.originOf("graphql")}/graphql`;
const { key } = await store.database.issueKey();

describe("graphql-request", () => {
  const list = "query List($limit: Int!) { pets(limit: $limit) { id name } }";
  const create = "mutation Create($input: NewPet!) { createPet(input: $input) { categoryId status } }";
  const openClient = (apiKey: string) => new GraphQLClient(url, { headers: { authorization: `Bearer ${apiKey}` } });

  it("creates a pet with an exact int64, and lists pets", async () => {
    const client = openClient(key);
    const created = await client.request(create, { input: { name: "Rex", categoryId: `${maxInt64}` } });
    expect(created).toEqual({ createPet: { categoryId: `${maxInt64}`, status: "available" } });
    expect(await client.request(list, { limit: 1 })).toEqual({ pets: [{ id: expect.any(String), name: "Rex" }] });
  });

  it("receives the code and the status of each error", async () => {
    const oneADay = await store.database.issueKey({ customLimits: { perMinute: 1_000, perDay: 1 } });
    const errorOf = async (apiKey: string, limit: number) => {
      const error = await openClient(apiKey)
        .request(list, { limit })
        .catch((reason: unknown) => reason);
      return error instanceof ClientError ? error.response.errors?.[0]?.extensions : error;
    };
    expect(await errorOf("nonsense", 1)).toEqual({ code: "API_KEY_INVALID", status: 401 });
    expect(await errorOf(oneADay.key, 0)).toEqual({ code: "VALIDATION_FAILED", status: 400 });
    const refused = { code: "DAILY_QUOTA_EXCEEDED", status: 429, limit: 1, remaining: 0 };
    expect(await errorOf(oneADay.key, 1)).toMatchObject(refused);
  });
});

describe("the hash of a persisted query is sent by GET, and its document once", () => {
  const headers = { authorization: `Bearer ${key}` };

  async function queryApolloClient(query: string, recordingFetch: typeof fetch): Promise<unknown> {
    const sha256 = (text: string) => hash("sha256", text, "hex");
    const persisted = new PersistedQueryLink({ sha256, useGETForHashedQueries: true });
    const link = persisted.concat(new HttpLink({ uri: url, headers, fetch: recordingFetch }));
    return (await new ApolloClient({ link, cache: new InMemoryCache() }).query({ query: gql(query) })).data;
  }

  async function queryUrql(query: string, recordingFetch: typeof fetch): Promise<unknown> {
    const exchanges = [persistedExchange({ preferGetForPersistedQueries: true }), fetchExchange];
    const options = { url, preferGetMethod: false, fetchOptions: { headers }, fetch: recordingFetch, exchanges };
    return (await new Client(options).query(query, {})).data;
  }

  it.each([
    ["ApolloClient", queryApolloClient],
    ["urql", queryUrql],
  ])("by %s", async (name, execute) => {
    const requests: string[] = [];
    const recordingFetch: typeof fetch = (input, init) => {
      requests.push(/[?&]query=|"query":/.test(`${input} ${init?.body}`) ? "document" : `hash by ${init?.method}`);
      return fetch(input, init);
    };
    for (let time = 0; time < 2; time += 1) {
      const data = await execute(`query ${name} { pets(limit: 1) { id } }`, recordingFetch);
      expect(data).toEqual({ pets: expect.any(Array) });
    }
    expect(requests).toEqual(["hash by GET", "document", "hash by GET"]);
  });
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
