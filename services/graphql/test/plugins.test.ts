// Apollo Server plugins that a user adds to the API.
import type { ApolloServerPlugin } from "@apollo/server";
import { Problem, type ProblemCode, problems } from "@petstore/core";
import type { OperationContext } from "@petstore/graphql";
import { print } from "graphql";
import { beforeEach, expect, it } from "vitest";
import { errorBody, openSharedStore } from "./test-store.js";

const seen: { readonly hooks: string[]; readonly sent: object }[] = [];
beforeEach(() => void seen.splice(0));

const recorder: ApolloServerPlugin<OperationContext> = {
  async requestDidStart() {
    const hooks = ["requestDidStart"];
    const record = (hook: string) => async () => void hooks.push(hook);
    return {
      didResolveOperation: record("didResolveOperation"),
      executionDidStart: async () => void hooks.push("executionDidStart"),
      didEncounterErrors: record("didEncounterErrors"),
      async willSendResponse({ contextValue: { caller }, document, request: { variables }, response: { body } }) {
        hooks.push("willSendResponse");
        const text = document && print(document);
        seen.push({
          hooks,
          sent: {
            accountId: caller.accountId,
            text,
            variables,
            data: body.kind === "single" && body.singleResult.data,
          },
        });
      },
    };
  },
};

/** Refuses every operation with this name. */
const refuser: ApolloServerPlugin = {
  async requestDidStart({ request }) {
    if (request.operationName === "Failed") throw new Error("the plugin has a fault");
    return {
      async didResolveOperation({ operationName }) {
        if (operationName === "Refused") throw new Problem("VALIDATION_FAILED", "This operation is not allowed.");
        if (operationName === "Unavailable") throw new Problem("SERVICE_UNAVAILABLE");
        if (operationName === "Broken") throw new Error("the plugin has a fault");
      },
    };
  },
};

const store = await openSharedStore({}, [recorder, refuser]);
const { key, accountId } = await store.issueKey();

it("a plugin sees each execution of a document alike, as the client sent it", async () => {
  const text = "query List($limit: Int! = 1) {\n  pets(limit: $limit) {\n    id\n  }\n}";
  for (let time = 0; time < 3; time++) await store.ask(text, { key, variables: { limit: 2 } });
  const hooks = ["requestDidStart", "didResolveOperation", "executionDidStart", "willSendResponse"];
  const sent = { accountId: BigInt(accountId), text, variables: { limit: 2n }, data: { pets: [] } };
  expect(seen).toEqual(Array(3).fill({ hooks, sent }));
});

it("a plugin sees an operation that is refused, each time", async () => {
  for (let time = 0; time < 2; time++) await store.ask("query ($limit: Int!) { pets(limit: $limit) { id } }", { key });
  const refused = ["requestDidStart", "didResolveOperation", "didEncounterErrors", "willSendResponse"];
  expect(seen.map(({ hooks }) => hooks)).toEqual([refused, refused]);
});

it("a plugin sees neither an invalid document, the first and the second time, nor a request without a key", async () => {
  for (const query of ["{ pets(", "{ pets(", "{ pet { id } }", "{ pet { id } }"]) await store.ask(query, { key });
  await store.ask("{ pets { id } }");
  expect(seen).toEqual([]);
});

it.each([
  ["a problem", "Refused", "VALIDATION_FAILED", "This operation is not allowed.", 57],
  ["a problem that a retry may solve", "Unavailable", "SERVICE_UNAVAILABLE", expect.any(String), 60],
  ["an error, whose message stays secret", "Broken", "INTERNAL_ERROR", expect.not.stringContaining("fault"), 57],
  ["an error in another hook, which is logged", "Failed", "INTERNAL_ERROR", expect.not.stringContaining("fault"), 59],
])(
  "a plugin can refuse an operation with %s, and then nothing is executed",
  async (_what, name, code, message, remaining) => {
    const caller = await store.issueKey({ plan: "free" });
    const query = `query ${name} { a: pets { id } b: pets { id } c: pets { id } }`;
    const before = store.logged.length;
    const { json, rateLimit } = await store.ask(query, { ...caller, operationName: name });
    expect(json).toEqual(errorBody(problems[code as ProblemCode].status, code, message));
    expect(rateLimit.remaining).toBe(remaining);
    expect(seen[0]?.hooks ?? []).not.toContain("executionDidStart");
    const isLogged = store.logged.slice(before).join("").includes("the plugin has a fault");
    expect(isLogged).toBe(code === "INTERNAL_ERROR");
  },
);
