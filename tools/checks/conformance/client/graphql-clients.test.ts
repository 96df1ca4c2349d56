// Popular GraphQL clients, without any code for this API.
import { maxInt64 } from "@petstore/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRunningStore, type RunningStore } from "../running-store.js";
import { openApolloClient } from "./apollo-client.js";
import type { GraphqlClient, OpenClient } from "./graphql-client.js";
import { openGraphqlRequest } from "./graphql-request.js";
import { openUrql } from "./urql.js";

let store: RunningStore;
let url: string;

beforeAll(async () => {
  store = await openRunningStore({ services: ["graphql"] });
  url = `${store.originOf("graphql")}/graphql`;
});
afterAll(() => store?.[Symbol.asyncDispose]());

describe.each<[string, OpenClient]>([
  ["Apollo Client", openApolloClient],
  ["urql", openUrql],
  ["graphql-request", openGraphqlRequest],
])("%s", (_name, open) => {
  const openWith = async (perMinute: number): Promise<GraphqlClient> =>
    open(url, (await store.database.issueKey({ customLimits: { perMinute, perDay: 10_000 } })).key);

  it("creates a pet with an exact int64, and lists pets", async () => {
    const client = await openWith(1_000);
    const created = await client.create({ name: "Rex", categoryId: `${maxInt64}` });
    expect(created).toMatchObject({ kind: "data", pets: [{ categoryId: `${maxInt64}` }] });
    const pet = { id: expect.stringMatching(/^\d+$/), name: "Rex", status: "available" };
    expect(await client.list(1)).toMatchObject({ kind: "data", pets: [pet] });
  });

  it("receives the code and the status of an error", async () => {
    const refused = await (await openWith(1_000)).list(0);
    expect(refused).toMatchObject({ kind: "error", code: "VALIDATION_FAILED", status: 400 });
  });

  it("receives the code of a rejected key", async () => {
    expect(await open(url, "nonsense").list(1)).toMatchObject({ kind: "error", code: "API_KEY_INVALID" });
  });

  it("receives the code and Retry-After of a 429", async () => {
    const client = await openWith(1);
    let refused = await client.list(1);
    // The second request is also admitted if a minute ends between the two.
    for (let call = 0; call < 3 && refused.kind === "data"; call += 1) refused = await client.list(1);
    expect(refused).toMatchObject({ kind: "error", code: "RATE_LIMIT_EXCEEDED", status: 429 });
    expect(Number(refused.kind === "error" && refused.retryAfter)).toBeGreaterThan(0);
  });
});
