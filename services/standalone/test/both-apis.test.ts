// Both APIs use one quota and the same idempotency keys, and give the same responses while PostgreSQL is unavailable.
// tools/checks/conformance/contract compares their other responses.

import { migrate } from "@petstore/core";
import { createGraphqlApi } from "@petstore/graphql";
import { createTestDatabase, shared } from "@petstore/harness";
import { openFaultProxy } from "@petstore/harness/network";
import { createRestApi } from "@petstore/rest";
import { type CallOptions, openTestStore } from "@petstore/test-store";
import { describe, expect, it } from "vitest";

type Request = readonly [method: string, path: string, options?: CallOptions];

const createApis = [createRestApi, createGraphqlApi];

it("a create in REST is replayed in GraphQL to another key of the account, and both count", async () => {
  await using store = await openTestStore(createApis);
  const { key, accountId } = await store.issueKey({ plan: "free" });
  const { key: otherKey } = await store.issueKey({ accountId });
  const send = ([method, path, options]: Request, key: string) => store.call(method, path, { ...options, key });
  expect(await send(restCreate("Rex", "once"), key)).toMatchObject({ status: 201, rateLimit: { remaining: 59 } });
  expect(await send(graphqlCreate("Rex", "once"), otherKey)).toMatchObject({
    headers: { "idempotency-replayed": "true" },
    rateLimit: { remaining: 58 },
  });
  expect(await send(graphqlCreate("Max", "once"), otherKey)).toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED" });
  expect(await store.execute("select name from pets")).toEqual([{ name: "Rex" }]);
});

describe.each([
  ["fresh", 0],
  ["stale", 6_000],
])("while PostgreSQL is unavailable and the record of the key is %s", async (_state, ageMs) => {
  const database = await shared(createTestDatabase());
  await migrate(database.directUrl);
  const proxy = await shared(openFaultProxy({ url: database.directUrl }));
  const store = await shared(openTestStore(createApis, { DATABASE_URL: proxy.url }));
  const expiresAt = new Date(Date.now() + 86_400_000);
  const { key } = await store.issueKey({ expiresAt });
  await store.call("GET", "/v1/none", { key });
  await proxy.refuse();
  store.clock.nowMs += ageMs;

  const unavailable = { code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 };
  const invalid = { code: "VALIDATION_FAILED", retryAfterSeconds: Number.NaN };

  it.each<[what: string, expected: object, rest: Request, graphql: Request]>([
    ["a list", unavailable, ["GET", "/v1/pets"], graphql("{ pets { id } }")],
    ["a create", unavailable, restCreate("Rex"), graphqlCreate("Rex")],
    ["a create with an idempotency key", unavailable, restCreate("Rex", "once"), graphqlCreate("Rex", "once")],
    ["an invalid list", invalid, ["GET", "/v1/pets?limit=0"], graphql("{ pets(limit: 0) { id } }")],
    ["an invalid pet", invalid, restCreate(""), graphqlCreate("")],
  ])("%s gets %o from both APIs, and the end of the key", async (_what, expected, ...requests) => {
    const headers = { "api-key-expires": expiresAt.toUTCString() };
    for (const [method, path, options] of requests) {
      expect(await store.call(method, path, { ...options, key }), path).toMatchObject({ ...expected, headers });
    }
  });
});

function restCreate(name: string, idempotencyKey?: string): Request {
  const headers = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
  return ["POST", "/v1/pets", { body: JSON.stringify({ name, categoryId: 1 }), headers }];
}

function graphqlCreate(name: string, idempotencyKey?: string): Request {
  const key = idempotencyKey === undefined ? "" : `, idempotencyKey: "${idempotencyKey}"`;
  return graphql(`mutation { createPet(input: {name: "${name}", categoryId: 1}${key}) { id } }`);
}

function graphql(query: string): Request {
  return ["POST", "/graphql", { body: JSON.stringify({ query }) }];
}
