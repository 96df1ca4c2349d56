// A root field costs as much as a REST request. The whole cost is reserved before the execution, or one unit if that fails.
// plan-operation.test.ts compares the cost of random documents with their execution.
import { beforeEach, expect, it } from "vitest";
import { errorBody, errorsOf, openSharedStore } from "./test-store.js";

const store = await openSharedStore();
const { key } = await store.issueKey();

beforeEach(() => {
  store.clock.nowMs = Math.ceil((store.clock.nowMs + 1) / 60_000) * 60_000;
});

const aliased = (count: number) =>
  `{ ${Array.from({ length: count }, (_, index) => `a${index}: pets { id }`).join(" ")} }`;
const skipped = "query ($skip: Boolean! = true) { a: pets { id } b: pets @skip(if: $skip) { id } }";
const create = (alias: string) => `${alias}: createPet(input: {name: "${alias}", categoryId: 1}) { id }`;

it.each<[what: string, query: string, cost: number, options?: object]>([
  ["ten aliases", aliased(10), 10],
  ["a default that skips", skipped, 1],
  ["a variable that does not skip", skipped, 2, { variables: { skip: false } }],
  ["introspection", '{ __typename __schema { types { name } } __type(name: "Pet") { name } }', 1],
  ["two mutations", `mutation { ${create("a")} ${create("b")} }`, 2],
  ["the chosen operation", `query One { pets { id } } query Two ${aliased(2)}`, 2, { operationName: "Two" }],
])("extensions.cost and the headers count the root fields: %s", async (_what, query, cost, options = {}) => {
  const caller = await store.issueKey({ plan: "free" });
  const answer = await store.ask(query, { ...caller, ...options });
  expect(answer).toMatchObject({ status: 200, json: { extensions: { cost } }, rateLimit: { remaining: 60 - cost } });
  expect(answer.json).not.toHaveProperty("errors");
});

it("an operation of more root fields than the limit of the account is refused and costs one unit", async () => {
  const caller = await store.issueKey({ customLimits: { perMinute: 2, perDay: 100 } });
  for (const remaining of [1, 0]) {
    const refused = await store.ask(aliased(3), caller);
    expect(refused).toMatchObject({ json: errorBody(400, "OPERATION_TOO_LARGE"), rateLimit: { limit: 2, remaining } });
  }
  // It is not parsed.
  const unread = await store.ask("{ pets(", caller);
  expect(unread).toMatchObject({ json: errorBody(429, "RATE_LIMIT_EXCEEDED"), rateLimit: { remaining: 0 } });
});

it("an operation of 4 units is refused and costs one while 3 remain, and one of 2 units is admitted", async () => {
  const caller = await store.issueKey({ customLimits: { perMinute: 5, perDay: 100 } });
  await store.ask(aliased(2), caller);
  const refused = await store.ask(
    `mutation { ${create("no1")} ${create("no2")} ${create("no3")} ${create("no4")} }`,
    caller,
  );
  expect(refused).toMatchObject({
    status: 429,
    json: errorBody(429, "RATE_LIMIT_EXCEEDED"),
    headers: { "retry-after": "61", ratelimit: expect.stringMatching(/^"minute";r=2;t=61, /) },
    rateLimit: { limit: 5, remaining: 2 },
  });
  expect(refused.json).not.toHaveProperty("data");
  // Apollo Client shows its users the extensions of an error, and no headers.
  const [retryAfter, reset] = [refused.headers["retry-after"], refused.headers["x-ratelimit-reset"]].map(Number);
  expect(errorsOf(refused)[0]?.extensions).toMatchObject({ retryAfter, limit: 5, remaining: 2, reset });
  expect((await store.ask("{ pets(limit: 100) { name } }", { key })).text).not.toContain("no1");
  expect(await store.ask(aliased(2), caller)).toMatchObject({ status: 200, rateLimit: { remaining: 0 } });
});

it.each([
  ["eleven root fields", aliased(11), "OPERATION_TOO_LARGE"],
  ["no document", "{ pets(", "GRAPHQL_PARSE_FAILED"],
  ["no operationName", "query A { a: pets { id } } query B { b: pets { id } }", "GRAPHQL_VALIDATION_FAILED"],
  ["an invalid document", "{ a: pet b: pet c: pet }", "GRAPHQL_VALIDATION_FAILED"],
  ["a subscription", "subscription { pets { id } }", "GRAPHQL_VALIDATION_FAILED"],
  ["missing variables", "query ($limit: Int!) { a: pets(limit: $limit) { id } b: pets { id } }", "VALIDATION_FAILED"],
])("a request that is refused before the execution costs one unit: %s", async (_what, query, code) => {
  const caller = await store.issueKey({ plan: "free" });
  expect(await store.ask(query, caller)).toMatchObject({ code, rateLimit: { remaining: 59 } });
});
