// A root field costs as much as a REST request. The whole cost is reserved, or nothing, before the execution.
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { errorsOf, openGraphqlStore } from "./test-store.js";

const store = await openGraphqlStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();

beforeEach(() => {
  store.clock.nowMs = Math.ceil((store.clock.nowMs + 1) / 60_000) * 60_000;
});

const aliased = (count: number) =>
  `{ ${Array.from({ length: count }, (_, index) => `a${index}: pets { id }`).join(" ")} }`;

describe("an operation costs its root fields, in extensions.cost and in the headers", () => {
  it.each([
    ["one field", "{ pets { id } }", 1],
    ["three aliases", aliased(3), 3],
    ["ten aliases", aliased(10), 10],
    ["fields that merge", "{ pets { id } pets { name } ... { pets { status } } }", 1],
    ["fields below the root", "{ petsConnection { nodes { id } edges { node { id } cursor } } }", 1],
    ["an inline fragment", "{ ... on Query { a: pets { id } } b: pets { id } }", 2],
    ["a named fragment, spread twice", "{ ...F ...F } fragment F on Query { a: pets { id } b: pets { id } }", 2],
    [
      "fragments in fragments",
      "{ ...F } fragment F on Query { ...G a: pets { id } } fragment G on Query { b: pets { id } }",
      2,
    ],
    ["a skipped field", "{ a: pets { id } b: pets @skip(if: true) { id } }", 1],
    ["a field that is not included", "{ a: pets { id } b: pets @include(if: false) { id } }", 1],
    ["a field that is not skipped", "{ a: pets { id } b: pets @skip(if: false) @include(if: true) { id } }", 2],
    ["a skipped fragment", "{ a: pets { id } ...F @skip(if: true) } fragment F on Query { b: pets { id } }", 1],
    [
      "a fragment that is skipped, then spread",
      "{ ...F @skip(if: true) ...F } fragment F on Query { a: pets { id } b: pets { id } }",
      2,
    ],
    ["a skipped inline fragment", "{ a: pets { id } ... @include(if: false) { b: pets { id } } }", 1],
    ["everything skipped", "{ pets @skip(if: true) { id } }", 1],
    ["__typename", "{ __typename }", 1],
    ["__typename and fields", "{ __typename a: pets { id } b: pets { id } }", 2],
    ["introspection and a field", '{ __schema { types { name } } __type(name: "Pet") { name } pets { id } }', 1],
    [
      "two mutations",
      'mutation { a: createPet(input: {name: "A", categoryId: 1}) { id } b: createPet(input: {name: "B", categoryId: 1}) { id } }',
      2,
    ],
  ])("%s", async (_what, query, cost) => {
    const caller = await store.issueKey({ plan: "free" });
    const answer = await store.ask(query, caller);
    expect(answer).toMatchObject({ status: 200, json: { extensions: { cost } }, rateLimit: { remaining: 60 - cost } });
    expect(answer.json).not.toHaveProperty("errors");
  });

  it.each([
    [{ skip: true }, 1],
    [{ skip: false }, 2],
    [{}, 1],
  ])("with variables %o, %i", async (variables, cost) => {
    const query = "query ($skip: Boolean! = true) { a: pets { id } b: pets @skip(if: $skip) { id } }";
    expect((await store.ask(query, { key, variables })).json).toMatchObject({ extensions: { cost } });
  });

  it("only the chosen operation counts", async () => {
    const query = `query One { pets { id } } query Two ${aliased(2)}`;
    expect((await store.ask(query, { key, operationName: "Two" })).json).toMatchObject({ extensions: { cost: 2 } });
  });
});

it("eleven root fields are refused, and cost one unit", async () => {
  const caller = await store.issueKey({ plan: "free" });
  expect(await store.ask(aliased(11), caller)).toMatchObject({
    status: 400,
    json: { errors: [{ extensions: { code: "OPERATION_TOO_LARGE", status: 400 } }] },
    rateLimit: { remaining: 59 },
  });
});

it("an operation of 3 units is refused and costs nothing while 2 remain, and one of 2 units is admitted", async () => {
  const caller = await store.issueKey({ customLimits: { perMinute: 2, perDay: 100 } });
  const wide = await store.issueKey({ customLimits: { perMinute: 4, perDay: 100 } });
  await store.ask(aliased(2), wide);
  const create = ["a", "b", "c"].map((alias) => `${alias}: createPet(input: {name: "refused", categoryId: 1}) { id }`);
  const refused = await store.ask(`mutation { ${create.join(" ")} }`, wide);
  expect(refused).toMatchObject({
    status: 429,
    json: { errors: [{ extensions: { code: "RATE_LIMIT_EXCEEDED", status: 429 } }] },
    rateLimit: { limit: 4, remaining: 2 },
  });
  expect(refused.json).not.toHaveProperty("data");
  expect(refused.headers["retry-after"]).toBe("61");
  expect((await store.ask("{ pets(limit: 100) { name } }", { key })).text).not.toContain("refused");
  expect(await store.ask(aliased(2), wide)).toMatchObject({ status: 200, rateLimit: { remaining: 0 } });
  expect(errorsOf(await store.ask(aliased(3), caller))).toMatchObject([
    { extensions: { code: "OPERATION_TOO_LARGE" } },
  ]);
});

it("concurrent operations never cost more than the limit together", async () => {
  const caller = await store.issueKey({ plan: "free" });
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => store.ask(aliased((index % 3) + 1), caller)),
  );
  const spent = answers.map(({ json }) => (json as { extensions?: { cost: number } }).extensions?.cost ?? 0);
  expect(spent.reduce((sum, cost) => sum + cost, 0)).toBe(60);
});

describe("a request that cannot be executed costs one unit", () => {
  it.each([
    ["no document", "{ pets("],
    ["an invalid document", "{ a: pet b: pet c: pet }"],
    ["missing variables", "query ($limit: Int!) { a: pets(limit: $limit) { id } b: pets { id } }"],
  ])("%s", async (_what, query) => {
    const caller = await store.issueKey({ plan: "free" });
    expect((await store.ask(query, caller)).rateLimit.remaining).toBe(59);
  });

  it.each([
    ["no JSON", { body: "{" }],
    ["another media type", { body: "{}", headers: { "content-type": "text/plain" } }],
    ["a media type that is not acceptable", { body: "{}", headers: { accept: "text/html" } }],
  ])("%s", async (_what, options) => {
    const caller = await store.issueKey({ plan: "free" });
    const answer = await store.call("POST", "/graphql", { ...options, key: caller.key });
    expect(answer.rateLimit.remaining).toBe(59);
  });
});
