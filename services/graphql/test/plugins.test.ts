// Apollo Server plugins that a user adds to the API.
import type { ApolloServerPlugin } from "@apollo/server";
import { Problem } from "@petstore/core";
import { createGraphqlRouter, type OperationContext } from "@petstore/graphql";
import { openTestStore } from "@petstore/test-store";
import { Kind, print } from "graphql";
import { afterAll, beforeEach, expect, it } from "vitest";

interface SeenOperation {
  readonly hooks: string[];
  accountId?: bigint;
  text?: string;
  variables?: unknown;
  data?: unknown;
}

const seen: SeenOperation[] = [];
beforeEach(() => void seen.splice(0));

const recorder: ApolloServerPlugin<OperationContext> = {
  async requestDidStart() {
    const operation: SeenOperation = { hooks: ["requestDidStart"] };
    seen.push(operation);
    return {
      async didResolveOperation() {
        operation.hooks.push("didResolveOperation");
      },
      async executionDidStart() {
        operation.hooks.push("executionDidStart");
      },
      async didEncounterErrors() {
        operation.hooks.push("didEncounterErrors");
      },
      async willSendResponse({ contextValue, document, request, response }) {
        operation.hooks.push("willSendResponse");
        operation.accountId = contextValue.accountId;
        operation.text = print(document ?? { kind: Kind.DOCUMENT, definitions: [] });
        operation.variables = request.variables;
        if (response.body.kind === "single") operation.data = response.body.singleResult.data;
      },
    };
  },
};

/** Refuses every operation with this name. */
const refuser: ApolloServerPlugin = {
  async requestDidStart() {
    return {
      async didResolveOperation({ operationName }) {
        if (operationName === "Refused") throw new Problem("VALIDATION_FAILED", "This operation is not allowed.");
        if (operationName === "Unavailable") throw new Problem("SERVICE_UNAVAILABLE");
        if (operationName === "Broken") throw new Error("the plugin is broken");
      },
    };
  },
};

const store = await openTestStore({
  routers: [(deps) => createGraphqlRouter({ ...deps, plugins: [recorder, refuser] })],
});
afterAll(() => store[Symbol.asyncDispose]());
const { key, accountId } = await store.issueKey({
  plan: "enterprise",
  customLimits: { perMinute: 5_000, perDay: 5_000 },
});

const send = (query: string, variables: unknown = {}) =>
  store.call("POST", "/graphql", { key, body: JSON.stringify({ query, variables }) });

const executed = ["requestDidStart", "didResolveOperation", "executionDidStart", "willSendResponse"];

it("a plugin sees the 1st, the 2nd and the 1,000th execution of a document alike, as the client sent it", async () => {
  const text = "query List($limit: Int! = 1) {\n  pets(limit: $limit) {\n    id\n  }\n}";
  await send(text, { limit: 2 });
  for (let batch = 0; batch < 9; batch++) {
    await Promise.all(Array.from({ length: 111 }, () => send(text, { limit: 2 })));
  }
  expect(seen).toHaveLength(1_000);
  const expected = {
    hooks: executed,
    accountId: BigInt(accountId),
    text,
    variables: { limit: 2n },
    data: { pets: [] },
  };
  for (const index of [0, 1, 999]) expect(seen[index]).toEqual(expected);
});

it.each([
  ["invalid variables", "query ($limit: Int!) { pets(limit: $limit) { id } }"],
  ["an unknown operation name", "query A { pets { id } } query B { pets { id } }"],
  [
    "too many root fields",
    `{ ${Array.from({ length: 11 }, (_, index) => `a${index}: __typename pets${index}: pets { id }`).join(" ")} }`,
  ],
])("a plugin sees an operation that is refused for %s", async (_reason, query) => {
  for (let time = 0; time < 2; time++) await send(query);
  const refused = ["requestDidStart", "didResolveOperation", "didEncounterErrors", "willSendResponse"];
  expect(seen.map(({ hooks }) => hooks)).toEqual([refused, refused]);
});

it.each([
  ["a syntax error", "{ pets("],
  ["an unknown field", "{ pet { id } }"],
])("a plugin does not see a document with %s, the first and the second time", async (_reason, query) => {
  for (let time = 0; time < 2; time++) await send(query);
  expect(seen).toEqual([]);
});

it("a plugin does not see a request without a valid key", async () => {
  await store.call("POST", "/graphql", { body: '{"query": "{ pets { id } }"}' });
  expect(seen).toEqual([]);
});

it("a plugin can refuse an operation with a problem, and then nothing is executed", async () => {
  const { json } = await send("query Refused { pets { id } }");
  expect(json).toEqual({
    errors: [{ message: "This operation is not allowed.", extensions: { code: "VALIDATION_FAILED", status: 400 } }],
  });
  expect(seen[0]?.hooks).not.toContain("executionDidStart");
});

it("a plugin that refuses an operation of several root fields as unavailable leaves no unit spent", async () => {
  const { key: freeKey } = await store.issueKey({ plan: "free" });
  const call = (query: string) => store.call("POST", "/graphql", { key: freeKey, body: JSON.stringify({ query }) });
  const refused = await call("query Unavailable { a: pets { id } b: pets { id } c: pets { id } }");
  expect(refused).toMatchObject({ status: 503, rateLimit: { remaining: 60 } });
  expect(await call("{ pets { id } }")).toMatchObject({ status: 200, rateLimit: { remaining: 59 } });
});

it("an error in a plugin is INTERNAL_ERROR, without its message", async () => {
  const { status, text } = await send("query Broken { pets { id } }");
  expect(status).toBe(500);
  expect(text).toContain("INTERNAL_ERROR");
  expect(text).not.toContain("broken");
});
