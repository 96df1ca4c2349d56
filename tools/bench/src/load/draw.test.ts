import { expect, test } from "vitest";
import { bareGraphql, graphql, postgraphileWords } from "../graphql-words.js";
import { rest } from "../rest-words.js";
import type { Words } from "../words.js";
import { mixed } from "../workload.js";
import { createDraw, type Randomness } from "./draw.js";

/** Fractions that are evenly spread, and the same in each run. */
function steadyRandomness(): Randomness {
  let seed = 1;
  let count = 0;
  return {
    fraction: () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    },
    unique: () => `unique-${count++}`,
  };
}

const apiKeys = Array.from({ length: 32 }, (_, number) => `key-${number}`);

function drawMixed(words: Words, count: number, keys = apiKeys) {
  const parts = mixed(words).parts.map(({ share, works }) => ({
    share,
    requests: works.map(({ request }) => request),
  }));
  const draw = createDraw({ parts, apiKeys: keys }, steadyRandomness());
  return Array.from({ length: count }, draw);
}

test("the mixed workload has every list of 10 to 30 pets, 10 % creates, and a tenth of these with a key", () => {
  const drawn = drawMixed(rest, 20_000);
  const creates = drawn.filter(({ method }) => method === "POST");
  const once = creates.filter(({ headers }) => headers["idempotency-key"] !== undefined);
  expect(creates.length / drawn.length).toBeCloseTo(0.1, 2);
  expect(once.length / drawn.length).toBeCloseTo(0.01, 2);
  const paths = new Set(drawn.filter(({ method }) => method === "GET").map(({ path }) => path));
  expect(paths.size).toBe(21 * 4);
  expect(paths).toContain("/v1/pets?limit=10");
  expect(paths).toContain("/v1/pets?limit=30&status=sold");
});

test("all 32 keys are used, and requests for servers without keys have none", () => {
  const keys = (all: ReturnType<typeof drawMixed>) => new Set(all.map(({ headers }) => headers.authorization));
  expect(keys(drawMixed(rest, 2_000))).toEqual(new Set(apiKeys.map((key) => `Bearer ${key}`)));
  expect(keys(drawMixed(rest, 100, []))).toEqual(new Set([undefined]));
});

test.each([
  ["REST", rest],
  ["GraphQL", graphql],
  ["the GraphQL peers", bareGraphql],
  ["PostGraphile", postgraphileWords],
])("no two created pets of %s have one name", (_api, words) => {
  const bodies = drawMixed(words, 2_000).flatMap(({ body }) => (body?.includes("unique-") ? [body] : []));
  expect(bodies.length).toBeGreaterThan(100);
  expect(new Set(bodies).size).toBe(bodies.length);
  expect(bodies.join()).not.toContain("{unique}");
});
