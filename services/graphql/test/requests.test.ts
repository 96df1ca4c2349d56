// GraphQL over HTTP: requests and responses.
import { afterAll, describe, expect, it } from "vitest";
import { errorsOf, openGraphqlStore } from "./test-store.js";

const store = await openGraphqlStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();

const error = (status: number, code: string) => ({
  status,
  json: { errors: [{ message: expect.any(String), extensions: { code, status } }] },
});
const post = (body: string | Buffer, headers = {}) => store.call("POST", "/graphql", { key, body, headers });
const get = (parameters: Record<string, string>, method = "GET") =>
  store.call(method, `/graphql?${new URLSearchParams(parameters)}`, { key });
const newerType = "application/graphql-response+json";

describe("the media type of the response", () => {
  it.each([
    [undefined, "application/json; charset=utf-8"],
    ["*/*", "application/json; charset=utf-8"],
    ["application/*", "application/json; charset=utf-8"],
    ["application/json", "application/json; charset=utf-8"],
    ["application/graphql-response+json", "application/graphql-response+json; charset=utf-8"],
    ["application/graphql-response+json, application/json;q=0.9", "application/graphql-response+json; charset=utf-8"],
    ["application/json, application/graphql-response+json;q=0.9", "application/json; charset=utf-8"],
    ["application/graphql-response+json; charset=utf-8", "application/graphql-response+json; charset=utf-8"],
    ["text/html, application/graphql-response+json, */*;q=0.1", "application/graphql-response+json; charset=utf-8"],
  ])("Accept: %s gets %s", async (accept, type) => {
    const headers = accept === undefined ? {} : { accept };
    expect((await store.ask("{ pets { id } }", { key, headers })).headers["content-type"]).toBe(type);
    expect((await store.ask("{ pets { id } }", { headers })).headers["content-type"]).toBe(type);
  });

  it("Accept: application/graphql+json is 406, and nothing is executed", async () => {
    const before = (await store.ask("{ pets { id } }", { key })).text;
    const mutation = 'mutation { createPet(input: {name: "Ada", categoryId: 1}) { id } }';
    const answer = await store.ask(mutation, { key, headers: { accept: "application/graphql+json" } });
    expect(answer).toMatchObject(error(406, "NOT_ACCEPTABLE"));
    expect((await store.ask("{ pets { id } }", { key })).text).toBe(before);
  });
});

describe("a POST", () => {
  it.each([
    ["[]", "body must be a JSON object"],
    ["null", "body must be a JSON object"],
    ['"{ pets { id } }"', "body must be a JSON object"],
    ["{}", "query is required"],
    ['{"query": null}', "query is required"],
    ['{"query": ""}', "query is required"],
    ['{"query": 1}', "query must be a string"],
    ['{"query": ["{ pets { id } }"]}', "query must be a string"],
    ['{"query": "{ pets { id } }", "variables": []}', "variables must be a JSON object"],
    ['{"query": "{ pets { id } }", "variables": "{}"}', "variables must be a JSON object"],
    ['{"query": "{ pets { id } }", "operationName": 1}', "operationName must be a string"],
    ['{"query": "{ pets { id } }", "extensions": []}', "extensions must be a JSON object"],
    ['{"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "0"}}}', "query is required"],
  ])("of %s is 400: %s", async (body, message) => {
    const answer = await post(body);
    expect(answer).toMatchObject(error(400, "VALIDATION_FAILED"));
    expect(errorsOf(answer)[0]?.message).toContain(message);
  });

  it("of a batch is 400, and nothing is executed", async () => {
    const one = { query: 'mutation { createPet(input: {name: "batched", categoryId: 1}) { id } }' };
    expect(await post(JSON.stringify([one, one]))).toMatchObject(error(400, "VALIDATION_FAILED"));
    expect((await store.ask("{ pets(limit: 100) { name } }", { key })).text).not.toContain("batched");
  });

  it("may have null or no variables, operationName and extensions, and unknown properties", async () => {
    const body = '{"query": "{ pets { id } }", "variables": null, "operationName": null, "extensions": null, "id": 1}';
    expect(await post(body)).toMatchObject({ status: 200, json: { data: {} } });
  });

  it("chooses among several operations by operationName", async () => {
    const query = "query A { a: pets { id } } query B { b: pets { id } }";
    expect((await store.ask(query, { key, operationName: "B" })).json).toMatchObject({
      data: { b: expect.any(Array) },
    });
    for (const operationName of ["C", undefined]) {
      const answer = await store.ask(query, { key, ...(operationName && { operationName }) });
      expect(errorsOf(answer)).toMatchObject([{ extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }]);
    }
  });
});

describe("a GET", () => {
  it("has query, variables and operationName as parameters", async () => {
    const query = "query A($limit: Int!) { pets(limit: $limit) { id } } query B { __typename }";
    const answer = await get({ query, variables: '{"limit": 1}', operationName: "A" });
    expect(answer).toMatchObject({ status: 200, json: { data: { pets: expect.any(Array) } } });
  });

  it("carries integers beyond 2^53 exactly", async () => {
    const query = "query ($c: String) { pets(cursor: $c) { id } }";
    expect(errorsOf(await get({ query, variables: '{"c": 9007199254740993}' }))).toMatchObject([
      { message: "cursor must be a string" },
    ]);
  });

  it.each([
    ["no query", {}],
    ["a query without text", { query: "" }],
    ["variables that are a list", { query: "{ pets { id } }", variables: "[]" }],
  ])("with %s is 400", async (_what, parameters) => {
    expect(await get(parameters)).toMatchObject(error(400, "VALIDATION_FAILED"));
  });

  it("with variables that are not JSON is 400", async () => {
    expect(await get({ query: "{ pets { id } }", variables: "{" })).toMatchObject(error(400, "INVALID_JSON"));
  });

  it("with a repeated parameter is 400", async () => {
    const answer = await store.call("GET", "/graphql?query=%7Bpets%7Bid%7D%7D&query=%7Bpets%7Bname%7D%7D", { key });
    expect(answer).toMatchObject(error(400, "VALIDATION_FAILED"));
  });

  it.each(["GET", "HEAD"])("of a mutation (%s) is 405 with Allow: POST, and adds no pet", async (method) => {
    const query = 'mutation { createPet(input: {name: "by get", categoryId: 1}) { id } }';
    const answer = await get({ query }, method);
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe("POST");
    expect((await store.ask("{ pets(limit: 100) { name } }", { key })).text).not.toContain("by get");
  });

  it("may run the query of a document that also contains a mutation", async () => {
    const query = 'query Q { pets { id } } mutation M { createPet(input: {name: "a", categoryId: 1}) { id } }';
    expect((await get({ query, operationName: "Q" })).status).toBe(200);
  });

  it("has the same headers and no body as HEAD", async () => {
    const [got, head] = [await get({ query: "{ pets { id } }" }), await get({ query: "{ pets { id } }" }, "HEAD")];
    expect([head.status, head.text, head.headers["content-length"]]).toEqual([200, "", got.headers["content-length"]]);
  });
});

it.each(["/graphql/", "/graphql/x", "/Graphql", "/graphqls"])("the path %s is 404", async (path) => {
  expect(await store.call("POST", path, { key, body: "{}" })).toMatchObject({ status: 404 });
});

describe("an error in the document or the variables", () => {
  it.each([
    ["{ pets(", "GRAPHQL_PARSE_FAILED"],
    ["{ pet { id } }", "GRAPHQL_VALIDATION_FAILED"],
    ["query ($limit: Int!) { pets(limit: $limit) { id } }", "VALIDATION_FAILED"],
  ])("%s is 400 for clients of graphql-response+json, 200 for those of application/json", async (query, code) => {
    const newer = await store.ask(query, { key, headers: { accept: newerType } });
    const older = await store.ask(query, { key });
    expect([newer.status, older.status]).toEqual([400, 200]);
    expect(newer.json).toEqual(older.json);
    expect(newer.json).not.toHaveProperty("data");
    expect(errorsOf(newer)[0]?.extensions).toEqual({ code, status: 400 });
  });
});
