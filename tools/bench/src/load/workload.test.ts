import { expect, test } from "vitest";
import { bareGraphqlRequests, graphqlRequests, postgraphileRequests } from "./graphql-requests.js";
import type { ApiRequests } from "./requests.js";
import { restRequests } from "./rest-requests.js";
import { createDraw, mixed } from "./workload.js";

const apiKeys = Array.from({ length: 32 }, (_, number) => `key-${number}`);

test("the mixed workload has every list of 10 to 30 pets, 10 % creates, and a tenth of these with a key", () => {
  const drawn = drawMixed(restRequests, 20_000);
  const creates = drawn.filter(({ method }) => method === "POST");
  const once = creates.filter(({ headers }) => headers["idempotency-key"] !== undefined);
  expect(creates.length / drawn.length).toBeCloseTo(0.1, 2);
  expect(once.length / drawn.length).toBeCloseTo(0.01, 2);
  const paths = new Set(drawn.filter(({ method }) => method === "GET").map(({ path }) => path));
  expect(paths.size).toBe(21 * 4);
  expect(paths).toContain("/v1/pets?limit=10");
  expect(paths).toContain("/v1/pets?limit=30&status=sold");
});

test("uses every key, and none for a server without keys", () => {
  const keys = (all: ReturnType<typeof drawMixed>) => new Set(all.map(({ headers }) => headers.authorization));
  expect(keys(drawMixed(restRequests, 2_000))).toEqual(new Set(apiKeys.map((key) => `Bearer ${key}`)));
  expect(keys(drawMixed(restRequests, 100, []))).toEqual(new Set([undefined]));
});

test.each([
  ["REST", restRequests],
  ["GraphQL", graphqlRequests],
  ["the GraphQL peers", bareGraphqlRequests],
  ["PostGraphile", postgraphileRequests],
])("no two created pets of %s have the same name", (_api, requests) => {
  const bodies = drawMixed(requests, 2_000).flatMap(({ body }) => (body?.includes("Pet ") ? [body] : []));
  expect(bodies.length).toBeGreaterThan(100);
  expect(new Set(bodies).size).toBe(bodies.length);
  expect(bodies.join()).not.toContain("{unique}");
});

function drawMixed(requests: ApiRequests, count: number, keys: readonly string[] = apiKeys) {
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const draw = createDraw({ parts: mixed(requests), apiKeys: keys }, random);
  return Array.from({ length: count }, () => draw().request);
}
