// GraphQL over HTTP. tools/checks/conformance/client runs the audits of the specification, which test the status codes, and
// tools/checks/conformance/contract tests what both APIs refuse.
import { describe, expect, it } from "vitest";
import { errorBody, openSharedStore } from "./test-store.js";

const store = await openSharedStore();
const { key } = await store.issueKey();
const query = "{ pets { id } }";
const create = (name: string) => `mutation { createPet(input: {name: "${name}", categoryId: 1}) { id } }`;

const error = (status: number, code: string, message?: unknown) => ({ status, json: errorBody(status, code, message) });
const post = (body: string) => store.call("POST", "/graphql", { key, body });
const get = (parameters: Record<string, string>, method = "GET") =>
  store.call(method, `/graphql?${new URLSearchParams(parameters)}`, { key });
const namesOfPets = async () => (await store.ask("{ pets(limit: 100) { name } }", { key })).text;

const json = "application/json; charset=utf-8";
const newer = "application/graphql-response+json; charset=utf-8";

it.each([
  ["application/*", json],
  ["application/graphql-response+json", newer],
  ["application/graphql-response+json, application/json;q=0.9", newer],
  ["application/json, application/graphql-response+json;q=0.9", json],
  ["application/graphql-response+json; charset=utf-8", newer],
  ["text/html, application/graphql-response+json, */*;q=0.1", newer],
])("Accept: %s gets %s, also when the request is refused", async (accept, type) => {
  for (const caller of [{ key }, {}]) {
    expect((await store.ask(query, { ...caller, headers: { accept } })).headers["content-type"]).toBe(type);
  }
});

it("an empty operationName is none, in GET and in POST", async () => {
  const got = await get({ query, operationName: "" });
  expect(got.json).toMatchObject({ data: { pets: expect.any(Array) } });
  expect((await store.ask(query, { key, operationName: "" })).text).toBe(got.text);
});

describe("a POST", () => {
  it.each([
    ["null", "body must be a JSON object"],
    ["{}", "query is required"],
    ['{"query": null}', "query is required"],
    ['{"query": ""}', "query is required"],
    ['{"query": ["{ pets { id } }"]}', "query must be a string"],
    ['{"query": "{ pets { id } }", "variables": []}', "variables must be a JSON object"],
    ['{"query": "{ pets { id } }", "operationName": 1}', "operationName must be a string"],
    ['{"query": "{ pets { id } }", "extensions": []}', "extensions must be a JSON object"],
  ])("of %s is 400: %s", async (body, message) => {
    expect(await post(body)).toMatchObject(error(400, "VALIDATION_FAILED", expect.stringContaining(message)));
  });

  it("of a batch is 400, and nothing is executed", async () => {
    const one = { query: create("batched") };
    expect(await post(JSON.stringify([one, one]))).toMatchObject(error(400, "VALIDATION_FAILED"));
    expect(await namesOfPets()).not.toContain("batched");
  });

  it("of several operations needs an operationName that is one of them", async () => {
    const document = "query A { a: pets { id } } query B { b: pets { id } }";
    for (const options of [{ operationName: "C" }, {}]) {
      expect((await store.ask(document, { key, ...options })).code).toBe("GRAPHQL_VALIDATION_FAILED");
    }
  });
});

describe("a GET", () => {
  it("has query, variables and operationName as parameters", async () => {
    const document = `query A($limit: Int!) { pets(limit: $limit) { id } } ${create("a")}`.replace(
      "mutation",
      "mutation B",
    );
    const answer = await get({ query: document, variables: '{"limit": 1}', operationName: "A" });
    expect(answer).toMatchObject({ status: 200, json: { data: { pets: expect.any(Array) } } });
  });

  it.each<[string, Record<string, string>, string]>([
    ["no query", {}, "VALIDATION_FAILED"],
    ["variables that are not JSON", { query, variables: "{" }, "INVALID_JSON"],
  ])("with %s is 400", async (_what, parameters, code) => {
    expect(await get(parameters)).toMatchObject(error(400, code));
  });

  it("with a repeated parameter is 400", async () => {
    const answer = await store.call("GET", "/graphql?query=%7Bpets%7Bid%7D%7D&query=%7Bpets%7Bname%7D%7D", { key });
    expect(answer).toMatchObject(error(400, "VALIDATION_FAILED", "no query parameter may be repeated"));
  });

  it.each(["GET", "HEAD"])("of a mutation (%s) is 405 with Allow: POST, and adds no pet", async (method) => {
    const answer = await get({ query: create("by get") }, method);
    expect(answer).toMatchObject({ status: 405, headers: { allow: "POST" } });
    expect(await namesOfPets()).not.toContain("by get");
  });

  it("has the same headers as HEAD, which has no body", async () => {
    const [got, head] = [await get({ query }), await get({ query }, "HEAD")];
    expect([head.status, head.text, head.headers["content-length"]]).toEqual([200, "", got.headers["content-length"]]);
  });
});

it.each(["/graphql/", "/graphql/x", "/Graphql", "/graphqls"])("the path %s is 404", async (path) => {
  expect(await store.call("POST", path, { key, body: "{}" })).toMatchObject({ status: 404 });
});
