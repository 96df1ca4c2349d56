// GraphQL over HTTP. tools/checks/conformance/client runs the audits of the specification, which test media types and status
// codes, and sends persisted queries by GET. tools/checks/conformance/contract tests what both APIs refuse.
import { hash } from "node:crypto";
import { openRawClient } from "@petstore/harness/network";
import { describe, expect, it } from "vitest";
import { errorBody, errorsOf, openSharedStore } from "./test-store.js";

const store = await openSharedStore();
const { key } = await store.issueKey();
const query = "{ pets { id } }";
const create = 'createPet(input: {name: "by get", categoryId: 1}) { id }';
const get = (parameters: string | Record<string, string>, method = "GET") =>
  store.call(method, `/graphql?${new URLSearchParams(parameters)}`, { key });

it.each([
  ["application/graphql-response+json, application/json;q=0.9", "application/graphql-response+json; charset=utf-8"],
  ["application/json, application/graphql-response+json;q=0.9", "application/json; charset=utf-8"],
])("Accept: %s gets %s, also when the request is refused", async (accept, type) => {
  for (const caller of [{ key }, {}]) {
    expect((await store.ask(query, { ...caller, headers: { accept } })).headers["content-type"]).toBe(type);
  }
});

it("a malformed request gets the error of the REST API, as on every other path", async () => {
  using client = openRawClient(store.port);
  client.write("GET /graphql HTTP/1.1\r\nAccept: application/graphql-response+json\r\n\r\n");
  expect(await client.received(1)).toMatchObject([
    { status: 400, code: "MALFORMED_REQUEST", headers: { "content-type": "application/json; charset=utf-8" } },
  ]);
});

it.each([
  [`[{"query": "${query}"}]`, "body must be a JSON object"],
  ["{}", "query is required"],
  ['{"query": ["{ pets { id } }"]}', "query must be a string"],
  ['{"query": "{ pets { id } }", "variables": []}', "variables must be a JSON object"],
  ['{"query": "{ pets { id } }", "operationName": 1}', "operationName must be a string"],
  ['{"query": "{ pets { id } }", "extensions": []}', "extensions must be a JSON object"],
])("a POST of %s is 400: %s", async (body, message) => {
  const json = errorBody(400, "VALIDATION_FAILED", expect.stringContaining(message));
  expect(await store.call("POST", "/graphql", { key, body })).toMatchObject({ status: 400, json });
});

it("a GET has query, variables and operationName as parameters", async () => {
  const document = `query A($limit: Int!) { pets(limit: $limit) { id } } mutation B { ${create} }`;
  const answer = await get({ query: document, variables: '{"limit": 1}', operationName: "A" });
  expect(answer).toMatchObject({ status: 200, json: { data: { pets: expect.any(Array) } } });
});

it.each([
  ["no query", "", "VALIDATION_FAILED"],
  ["variables that are not JSON", `query=${query}&variables={`, "INVALID_JSON"],
  ["a repeated parameter", `query=${query}&query=${query}`, "VALIDATION_FAILED"],
])("a GET with %s is 400", async (_what, parameters, code) => {
  expect(await get(parameters)).toMatchObject({ status: 400, json: errorBody(400, code) });
});

it("an empty operationName is none, in GET and in POST", async () => {
  const got = await get({ query, operationName: "" });
  expect(got.json).toMatchObject({ data: { pets: expect.any(Array) } });
  expect((await store.ask(query, { key, operationName: "" })).text).toBe(got.text);
});

it.each(["GET", "HEAD"])("a mutation by %s is 405 with Allow: POST, and adds no pet", async (method) => {
  const answer = await get({ query: `mutation { ${create} }` }, method);
  expect(answer).toMatchObject({ status: 405, headers: { allow: "POST" } });
  expect(await store.execute("select name from pets")).toEqual([]);
});

const post = (request: object) => store.call("POST", "/graphql", { key, body: JSON.stringify(request) });
const extensionsOf = (sha256Hash: unknown, version = 1) => ({ persistedQuery: { version, sha256Hash } });
const sha256 = (text: string) => hash("sha256", text, "hex");

describe("a persisted query", () => {
  it("is executed with the variables and the operation of each request", async () => {
    const query = "query A($limit: Int!) { pets(limit: $limit) { name } } query B { none: pets { name } }";
    const extensions = extensionsOf(sha256(query).toUpperCase());
    await post({ query, extensions, operationName: "B" });
    const refused = await post({ extensions, operationName: "A", variables: { limit: 0 } });
    expect(errorsOf(refused)[0]?.message).toBe("limit must be an integer from 1 to 100");
    expect(await post({ extensions, operationName: "B" })).toMatchObject({ json: { data: { none: [] } } });
  });

  it("is not kept if its document is refused; a query that is not found costs one unit", async () => {
    const query = "{ cats { name } }";
    const extensions = extensionsOf(sha256(query));
    const { remaining } = (await post({ query, extensions })).rateLimit;
    const missed = {
      status: 200,
      json: errorBody(400, "PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound"),
      rateLimit: { remaining: remaining - 1 },
    };
    expect(await post({ extensions })).toMatchObject(missed);
  });

  it.each([
    ["of another document", { query: "{ pets { id } }", extensions: extensionsOf(sha256("{ pets { name } }")) }],
    ["of another type", { extensions: extensionsOf(7) }],
    ["of another version", { extensions: extensionsOf(sha256("{ pets { id } }"), 2) }],
  ])("with a hash %s is refused", async (_which, request) => {
    expect(await post(request)).toMatchObject({ code: "VALIDATION_FAILED" });
  });
});
