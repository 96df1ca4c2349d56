// Both APIs of one service lead to the same pets, keys and counters.
import { createGraphqlRouter } from "@petstore/graphql";
import { createRestRouter } from "@petstore/rest";
import { openTestStore } from "@petstore/test-store";
import { afterAll, describe, expect, it } from "vitest";

const store = await openTestStore({ routers: [createRestRouter, createGraphqlRouter] });
afterAll(() => store[Symbol.asyncDispose]());

const ask = (query: string, key: string, variables: unknown = {}) =>
  store.call("POST", "/graphql", { key, body: JSON.stringify({ query, variables }) });
const list = (key: string, query = "") => store.call("GET", `/v1/pets${query}`, { key });
const aliased = (count: number) =>
  `{ ${Array.from({ length: count }, (_, index) => `a${index}: pets { id }`).join(" ")} }`;

it("one account has one quota, over both APIs", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  expect((await list(key)).rateLimit.remaining).toBe(59);
  expect((await ask(aliased(9), key)).rateLimit.remaining).toBe(50);
  expect((await list(key)).rateLimit.remaining).toBe(49);
  for (let time = 0; time < 4; time++) await ask(aliased(10), key);
  await ask(aliased(7), key);
  expect((await list(key)).rateLimit.remaining).toBe(1);
  expect((await ask(aliased(2), key)).status).toBe(429);
  expect((await list(key)).status).toBe(200);
  expect((await list(key)).status).toBe(429);
});

it("admits exactly the limit of requests through both APIs at once", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  const calls = Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? list(key) : ask("{ pets { id } }", key)));
  const admitted = (await Promise.all(calls)).filter(({ status }) => status === 200);
  expect(admitted.map(({ rateLimit }) => rateLimit.remaining).sort((one, other) => one - other)).toEqual(
    Array.from({ length: 60 }, (_, index) => index),
  );
});

it("a key banned at one API is banned at the other", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  await Promise.all(Array.from({ length: 61 }, () => list(key)));
  store.clock.nowMs += 2_001;
  for (let strike = 1; strike <= 120; strike++) await (strike % 2 === 0 ? list(key) : ask("{ pets { id } }", key));
  expect((await list(key)).json).toMatchObject({ code: "API_KEY_BANNED" });
  expect((await ask("{ pets { id } }", key)).json).toMatchObject({
    errors: [{ extensions: { code: "API_KEY_BANNED" } }],
  });
  store.clock.nowMs += 120_000;
});

describe("one idempotency key, used once at each API,", () => {
  const byRest = (key: string, categoryId: string, idempotencyKey: string) =>
    store.call("POST", "/v1/pets", {
      key,
      body: `{"categoryId": ${categoryId}, "status": "sold", "name": "Ada"}`,
      headers: { "Idempotency-Key": idempotencyKey },
    });
  const byGraphql = (key: string, categoryId: string, idempotencyKey: string) =>
    ask(
      'mutation ($id: ID!, $key: String!) { createPet(input: {name: "Ada", categoryId: $id, status: sold}, idempotencyKey: $key) { id } }',
      key,
      { id: categoryId, key: idempotencyKey },
    );

  it("makes one pet, and both answers tell of it", async () => {
    const { key } = await store.issueKey();
    for (const [idempotencyKey, ways] of [
      ["rest first", [byRest, byGraphql]],
      ["graphql first", [byGraphql, byRest]],
    ] as const) {
      const first = await ways[0](key, "9007199254740993", idempotencyKey);
      const second = await ways[1](key, "9007199254740993", idempotencyKey);
      expect(first.headers["idempotency-replayed"]).toBeUndefined();
      expect(second.headers["idempotency-replayed"]).toBe("true");
      const [one, other] = [first, second].map(({ text }) => /"id":"?(\d+)"?/.exec(text)?.[1]);
      expect(one).toMatch(/^\d+$/);
      expect(other).toBe(one);
    }
  });

  it("for another pet is refused at either", async () => {
    const { key } = await store.issueKey();
    await byRest(key, "1", "reused");
    expect((await byGraphql(key, "2", "reused")).json).toMatchObject({
      errors: [{ extensions: { code: "IDEMPOTENCY_KEY_REUSED", status: 422 } }],
    });
    await byGraphql(key, "1", "reused too");
    expect(await byRest(key, "2", "reused too")).toMatchObject({
      status: 422,
      json: { code: "IDEMPOTENCY_KEY_REUSED" },
    });
  });

  it("makes one pet when a hundred requests through both APIs arrive at once", async () => {
    const { key } = await store.issueKey();
    const ways = [byRest, byGraphql];
    const calls = Array.from({ length: 100 }, (_, index) => ways[index % 2]?.(key, "1", "at once"));
    const ids = (await Promise.all(calls)).map((answer) => /"id":"?(\d+)"?/.exec(answer?.text ?? "")?.[1]);
    expect(new Set(ids).size).toBe(1);
  });
});

it("cursors of one API work at the other, with the same filter", async () => {
  const { key } = await store.issueKey();
  for (let count = 0; count < 3; count++) {
    await ask('mutation { createPet(input: {name: "paged", categoryId: 1, status: pending}) { id } }', key);
  }
  const link = (await list(key, "?status=pending&limit=1")).headers.link ?? "";
  const cursor = /cursor=([\w-]+)/.exec(link)?.[1] ?? "";
  const connection = "{ petsConnection(first: 1, status: pending) { pageInfo { endCursor } } }";
  expect((await ask(connection, key)).json).toMatchObject({
    data: { petsConnection: { pageInfo: { endCursor: cursor } } },
  });
  const rest = (await list(key, `?status=pending&cursor=${cursor}`)).json as { id: number }[];
  const { json } = await ask(`{ pets(status: pending, cursor: "${cursor}") { id } }`, key);
  expect(json).toMatchObject({ data: { pets: rest.map(({ id }) => ({ id: `${id}` })) } });
  expect(rest).toHaveLength(2);
});

it("each API answers in its own shape", async () => {
  expect((await store.call("GET", "/v1/none")).json).toEqual({
    code: "API_KEY_MISSING",
    message: expect.any(String),
    status: 401,
  });
  expect((await store.call("GET", "/graphql")).json).toEqual({
    errors: [{ message: expect.any(String), extensions: { code: "API_KEY_MISSING", status: 401 } }],
  });
});
