import { afterAll, describe, expect, it } from "vitest";
import { errorsOf, openGraphqlStore } from "./test-store.js";

const store = await openGraphqlStore({ environment: { DATABASE_WRITE_TIMEOUT_MS: "3000" } });
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();
const caller = { key };

describe("an error in the document", () => {
  it("a syntax error is GRAPHQL_PARSE_FAILED, with its location", async () => {
    expect(errorsOf(await store.ask("{\n  pets(\n", { key }))).toEqual([
      {
        message: expect.stringContaining("Syntax Error"),
        locations: [{ line: 3, column: 1 }],
        extensions: { code: "GRAPHQL_PARSE_FAILED", status: 400 },
      },
    ]);
  });

  it.each([
    ["an unknown field", "{ pet { id } }"],
    ["a field with a name almost right", "{ pets { nam } }"],
    ["an unknown argument", "{ pets(limits: 1) { id } }"],
    ["a literal of another type", '{ pets(limit: "1") { id } }'],
    ["a value that is none of the enum's", "{ pets(status: avaliable) { id } }"],
    ["a status in quotes", '{ pets(status: "sold") { id } }'],
    ["a missing argument", "mutation { createPet { id } }"],
    ["an unknown field of an input", 'mutation { createPet(input: {name: "a", categoryId: 1, id: 1}) { id } }'],
    ["an identifier that is a list", 'mutation { createPet(input: {name: "a", categoryId: [1]}) { id } }'],
    ["a field without a selection", "{ pets }"],
    ["an unknown directive", "{ pets @cached { id } }"],
    ["an unused fragment", "{ pets { id } } fragment F on Pet { id }"],
    ["a cycle of fragments", "{ pets { ...F } } fragment F on Pet { ...F }"],
    ["fields in conflict", "{ pets(limit: 1) { id } pets(limit: 2) { id } }"],
    ["no operation", "fragment F on Pet { id }"],
    ["a subscription", "subscription { pets { id } }"],
    ["a definition of a type", "type T { a: Int } query { pets { id } }"],
  ])("%s is GRAPHQL_VALIDATION_FAILED, without a suggestion or source text", async (_what, query) => {
    const answer = await store.ask(query, { key });
    for (const { extensions } of errorsOf(answer)) {
      expect(extensions).toEqual({ code: "GRAPHQL_VALIDATION_FAILED", status: 400 });
    }
    // The syntax of a selection is no suggestion: it names only what the document names.
    expect(answer.text.replace('Did you mean \\"pets { ... }', "")).not.toMatch(/did you mean|stack|node_modules/i);
    expect(answer.json).not.toHaveProperty("data");
  });
});

describe("an error in the variables is VALIDATION_FAILED in REST's words, without the values", () => {
  const createPet = "mutation ($pet: NewPet!) { createPet(input: $pet) { id } }";
  const createOf =
    "mutation ($name: String!, $categoryId: ID!, $status: PetStatus, $key: String) { createPet(input: {name: $name, categoryId: $categoryId, status: $status}, idempotencyKey: $key) { id } }";
  const list =
    "query ($limit: Int!, $status: PetStatus, $cursor: String) { pets(limit: $limit, status: $status, cursor: $cursor) { id } }";
  const connection =
    "query ($first: Int!, $status: PetStatus, $after: String) { petsConnection(first: $first, status: $status, after: $after) { nodes { id } } }";
  const shape = "must be a JSON object with name, categoryId and optionally status, and no other property";
  const limit = "must be an integer from 1 to 100";
  const status = "status must be one of available, pending, sold";
  const categoryId = "categoryId must be an integer from -9223372036854775808 to 9223372036854775807";
  const keyRule = "idempotency key must be 1 to 255 printable ASCII characters";

  const ask = async (query: string, variables: unknown) => {
    const answer = await store.ask(query, { key: caller.key, variables });
    expect(answer.text).not.toContain("mauve");
    return answer;
  };

  it.each([
    [list, {}, "limit is required"],
    [list, { limit: null }, `limit ${limit}`],
    [createPet, {}, "pet is required"],
    [createPet, { pet: null }, `pet ${shape}`],
    [createOf, { name: null, status: "mauve" }, "name must be a string; categoryId is required"],
    ["query ($yes: Boolean!) { pets @skip(if: $yes) { id } }", { yes: "mauve" }, "yes must be true or false"],
    ["query ($yes: Boolean = true) { pets @skip(if: $yes) { id } }", { yes: [true] }, "yes must be true or false"],
  ])("variables that prevent the execution: %# %s %j", async (query, variables, message) => {
    expect((await ask(query, variables)).json).toEqual({
      errors: [{ message, extensions: { code: "VALIDATION_FAILED", status: 400 } }],
    });
  });

  it.each<[string, string, unknown, string]>([
    ...[1e300, true, [1], [[[]]], {}, { toString: 1 }].flatMap((value): [string, string, unknown, string][] => [
      ["pets", list, { limit: value }, `limit ${limit}`],
      ["petsConnection", connection, { first: value }, `first ${limit}`],
    ]),
    ...[1, true, ["sold"], {}].map((value): [string, string, unknown, string] => [
      "pets",
      list,
      { limit: 1, status: value },
      status,
    ]),
    ...[1, 1.5, true, ["a"], {}].flatMap((value): [string, string, unknown, string][] => [
      ["pets", list, { limit: 1, cursor: value }, "cursor must be a string"],
      ["petsConnection", connection, { first: 1, after: value }, "after must be a string"],
      ["createPet", createOf, { name: "Ada", categoryId: 1, key: value }, keyRule],
    ]),
    ["pets", list, { limit: 0, status: "mauve", cursor: 1 }, `limit ${limit}; ${status}; cursor must be a string`],
    ["petsConnection", connection, { first: "mauve", status: 1 }, `first ${limit}; ${status}`],
    ["createPet", createPet, { pet: [[[{}]]] }, `input ${shape}`],
    ["createPet", createPet, { pet: { name: 1, categoryId: 1, id: 1 } }, `name must be a string; input ${shape}`],
    ...[{ toString: 1 }, [["mauve"]]].map((value): [string, string, unknown, string] => [
      "createPet",
      createPet,
      { pet: { name: value, categoryId: value } },
      `name must be a string; ${categoryId}`,
    ]),
    ["createPet", createOf, { name: 1, categoryId: "x", status: 1 }, `name must be a string; ${categoryId}; ${status}`],
  ])("core reports all invalid values at once: %# %s", async (field, query, variables, message) => {
    expect((await ask(query, variables)).json).toEqual({
      data: null,
      errors: [
        {
          message,
          path: [field],
          locations: [{ line: 1, column: query.indexOf(`${field}(`) + 1 }],
          extensions: { code: "VALIDATION_FAILED", status: 400 },
        },
      ],
      extensions: { cost: 1 },
    });
  });

  it.each([
    ["query ($limit: Int) { pets(limit: $limit) { id } }", { limit: null }],
    ["query ($yes: Boolean = true) { pets @skip(if: $yes) { id } }", { yes: null }],
    ['mutation ($name: String = "Ada") { createPet(input: {name: $name, categoryId: 1}) { id } }', { name: null }],
  ])("null for a nullable variable of a non-null argument: %s", async (query, variables) => {
    expect((await ask(query, variables)).json).toMatchObject({
      errors: [{ extensions: { code: "VALIDATION_FAILED", status: 400 } }],
    });
  });

  it("a value of the wrong type finds no type in introspection", async () => {
    const query = "query ($name: String!) { __type(name: $name) { name } }";
    expect((await ask(query, { name: "Pet" })).json).toMatchObject({ data: { __type: { name: "Pet" } } });
    for (const name of [["Pet"], { toString: 1 }, 1]) {
      expect((await ask(query, { name })).json).toMatchObject({ data: { __type: null } });
    }
  });

  it("values with the maximum nesting are refused like any other", async () => {
    for (const depth of [500, 2_000]) {
      const nested = (open: string, close: string) => `${open.repeat(depth)}1${close.repeat(depth)}`;
      for (const value of [nested("[", "]"), nested('{"name":', "}")]) {
        const answer = await store.call("POST", "/graphql", {
          key: caller.key,
          body: `{"query": ${JSON.stringify(createPet)}, "variables": {"pet": ${value}}}`,
        });
        expect(errorsOf(answer)[0]?.extensions.status).toBe(400);
      }
    }
  });

  it("variables that the operation does not declare are ignored", async () => {
    const variables = { limit: 1, other: { a: [1] }, __proto__: null };
    expect((await store.ask(list, { key, variables })).json).toMatchObject({ data: {} });
  });

  it("a default is used for a missing variable", async () => {
    const query = "query ($limit: Int! = 0) { pets(limit: $limit) { id } }";
    expect(errorsOf(await store.ask(query, { key }))).toMatchObject([
      { message: "limit must be an integer from 1 to 100" },
    ]);
  });
});

it("a fault of the service is INTERNAL_ERROR without details, counts, and is logged once", async () => {
  const caller = await store.issueKey({ plan: "free" });
  await store.execute("alter table pets rename to renamed_pets");
  const before = store.logged.length;
  const answer = await store.ask("{ pets { id } }", caller);
  await store.execute("alter table renamed_pets rename to pets");
  expect(answer).toMatchObject({
    status: 200,
    json: { data: null, errors: [{ path: ["pets"], extensions: { code: "INTERNAL_ERROR", status: 500 } }] },
    rateLimit: { remaining: 59 },
  });
  expect(answer.text).not.toMatch(/relation|select|stack|node_modules/i);
  const lines = store.logged.slice(before).map((line) => JSON.parse(line) as { level: string; requestId?: string });
  const faults = lines.filter(({ level }) => level === "error");
  expect(faults).toMatchObject([{ requestId: answer.headers["x-request-id"], code: "INTERNAL_ERROR" }]);
});

it("a create whose idempotency key is in use has Retry-After, as in REST", async () => {
  const caller = await store.issueKey();
  await store.ask('mutation { createPet(input: {name: "Ada", categoryId: 1}) { id } }', caller);
  await store.execute("begin");
  await store.execute(`insert into idempotency_keys values (${caller.accountId}, 'held', '', 1, now())`);
  const answer = await store.ask(
    'mutation { createPet(input: {name: "Ada", categoryId: 1}, idempotencyKey: "held") { id } }',
    caller,
  );
  await store.execute("rollback");
  expect(errorsOf(answer)).toMatchObject([{ extensions: { code: "IDEMPOTENCY_IN_PROGRESS", status: 409 } }]);
  expect(answer.headers["retry-after"]).toBe("1");
});

it("introspection works with a key", async () => {
  const query = '{ __type(name: "Pet") { fields { name type { kind ofType { name } } } } }';
  expect((await store.ask(query, { key })).json).toMatchObject({
    data: { __type: { fields: [{ name: "id" }, { name: "name" }, { name: "categoryId" }, { name: "status" }] } },
  });
});

it("no log line contains a key, SQL or a stack trace", () => {
  expect(store.logged.join("")).not.toMatch(/pets_live_(?!\[redacted\])|node_modules| {4}at /);
});

it("the first and the second response to a document are equal", async () => {
  for (const [query, variables] of [
    ["{ pets(limit: 0) { id } }", {}],
    ["query ($limit: Int!) { pets(limit: $limit) { id } }", { limit: 101 }],
    ["query Named($limit: Int! = 1) { b: pets(limit: $limit) { __typename id } __typename }", {}],
    ['{ a: __type(name: "Pet") { name } petsConnection(after: "none") { nodes { id } } }', {}],
  ] as const) {
    const first = await store.ask(query, { key, variables });
    expect(first.status).toBe(200);
    expect((await store.ask(query, { key, variables })).text).toBe(first.text);
  }
});
