import { describe, expect, it } from "vitest";
import { errorBody, errorsOf, openSharedStore } from "./test-store.js";

const store = await openSharedStore({ DATABASE_READ_TIMEOUT_MS: "3000", DATABASE_WRITE_TIMEOUT_MS: "3000" });
const caller = await store.issueKey();

it.each([
  ["a name at a wrong place", (key: string) => `{ pets { id } } ${key}`],
  ["a field", (key: string) => `{ ${key} }`],
  ["a literal of a wrong type", (key: string) => `{ pets(limit: "${key}") { id } }`],
  ["a required variable", (key: string) => `query ($${key}: Int!) { pets(limit: $${key}) { id } }`],
  [
    "a literal next to a variable that is null",
    (key: string) => `mutation ($id: ID = 1) { createPet(input: {name: "${key}", categoryId: $id}) { id } }`,
  ],
])("an error does not show an API key that the document contains as %s", async (_what, queryOf) => {
  const answer = await store.ask(queryOf(caller.key), { ...caller, variables: { id: null } });
  expect(errorsOf(answer)).toMatchObject([{ message: expect.stringContaining("left out") }]);
  expect(answer.text).not.toContain(caller.key);
});

describe("an error in the variables is VALIDATION_FAILED in REST's words, without the values", () => {
  const createPet = "mutation ($pet: NewPet!) { createPet(input: $pet) { id } }";
  const list =
    "query ($limit: Int!, $status: PetStatus, $cursor: String) { pets(limit: $limit, status: $status, cursor: $cursor) { id } }";
  const connection =
    "query ($first: Int!, $after: String) { petsConnection(first: $first, after: $after) { nodes { id } } }";
  const skip = "query ($yes: Boolean!) { pets @skip(if: $yes) { id } }";
  const shape = "must be a JSON object with name, categoryId and optionally status, and no other property";
  const limit = "must be an integer from 1 to 100";
  const status = "status must be one of available, pending, sold";

  const ask = async (query: string, variables: unknown) => {
    const answer = await store.ask(query, { ...caller, variables });
    expect(answer.text).not.toContain("mauve");
    return answer;
  };

  it.each([
    [list, {}, "limit is required"],
    [list, { limit: null }, `limit ${limit}`],
    [createPet, { pet: null }, `pet ${shape}`],
    [skip, { yes: "mauve" }, "yes must be true or false"],
    [skip, { yes: [true] }, "yes must be true or false"],
  ])("variables that prevent the execution: %# %s %j", async (query, variables, message) => {
    expect((await ask(query, variables)).json).toEqual(errorBody(400, "VALIDATION_FAILED", message));
  });

  // tools/checks/conformance tests the values that a REST request can also have, and deep values.
  it.each<[field: string, query: string, variables: unknown, message: string]>([
    ["petsConnection", connection, { first: "mauve", after: 1.5 }, `first ${limit}; after must be a string`],
    ["pets", list, { limit: 1, status: ["a"], cursor: true }, `${status}; cursor must be a string`],
    ["createPet", createPet, { pet: [[[{}]]] }, `input ${shape}`],
  ])("core reports all invalid values at once: %# %s", async (field, query, variables, message) => {
    const [error] = errorBody(400, "VALIDATION_FAILED", message).errors;
    const locations = [{ line: 1, column: query.indexOf(`${field}(`) + 1 }];
    expect((await ask(query, variables)).json).toEqual({
      data: field === "createPet" ? { createPet: null } : null,
      errors: [{ ...error, path: [field], locations }],
      extensions: { cost: 1 },
    });
  });

  it("null for a nullable variable of a non-null argument", async () => {
    const answer = await ask("query ($limit: Int) { pets(limit: $limit) { id } }", { limit: null });
    expect(errorsOf(answer)[0]?.extensions).toEqual({ code: "VALIDATION_FAILED", status: 400 });
  });
});

it("an unexpected error is INTERNAL_ERROR in a 200 with the path, counts, and is logged with the request id", async () => {
  const free = await store.issueKey({ plan: "free" });
  await store.execute("alter table pets rename to renamed_pets");
  const before = store.logged.length;
  const answer = await store.ask("{ pets { id } }", free);
  await store.execute("alter table renamed_pets rename to pets");
  expect(answer).toMatchObject({
    status: 200,
    json: { data: null, errors: [{ path: ["pets"], extensions: { code: "INTERNAL_ERROR", status: 500 } }] },
    rateLimit: { remaining: 59 },
  });
  expect(answer.text).not.toMatch(/relation|select|stack|node_modules/i);
  const faults = store.logged.slice(before).filter((line) => line.includes('"level":"error"'));
  const requestId = answer.headers["x-request-id"];
  expect(faults.map((line) => JSON.parse(line))).toMatchObject([{ requestId, code: "INTERNAL_ERROR" }]);
  expect(store.logged.join("")).not.toMatch(/pets_live_(?!\[redacted\])|node_modules| {4}at /);
});

it("a create whose idempotency key is in use has Retry-After, as in REST", async () => {
  await store.ask('mutation { createPet(input: {name: "Ada", categoryId: 1}) { id } }', caller);
  await store.execute("begin");
  await store.execute(`insert into idempotency_keys values (${caller.accountId}, 'held', '', 1, now())`);
  const query = 'mutation { createPet(input: {name: "Ada", categoryId: 1}, idempotencyKey: "held") { id } }';
  const answer = await store.ask(query, caller);
  await store.execute("rollback");
  expect(errorsOf(answer)).toMatchObject([{ extensions: { code: "IDEMPOTENCY_IN_PROGRESS", retryAfter: 1 } }]);
  expect(answer.headers["retry-after"]).toBe("1");
});

describe("an operation whose statements time out", () => {
  const create = (alias: string, name = "Ada") => `${alias}: createPet(input: {name: "${name}", categoryId: 1}) { id }`;
  const message = "The database did not answer in time; try again shortly.";

  it.each([
    ["three lists", "{ a: pets { id } b: petsConnection { nodes { id } } c: pets { id } }", 3],
    ["two mutations", `mutation { ${create("a")} ${create("b")} }`, 2],
  ])("(%s) gets 503 with Retry-After, gives all units back, and works afterwards", async (_what, query, cost) => {
    const free = await store.issueKey({ plan: "free" });
    await store.ask("{ __typename }", free);
    await store.execute("begin");
    await store.execute("lock table pets in access exclusive mode");
    const answer = await store.ask(query, free);
    await store.execute("rollback");
    expect(answer).toMatchObject({
      status: 503,
      json: errorBody(503, "SERVICE_UNAVAILABLE", message),
      headers: { "retry-after": "1" },
      rateLimit: { limit: 60, remaining: 59 },
    });
    expect(answer.json).not.toHaveProperty("data");
    expect(await store.ask(query, free)).toMatchObject({ status: 200, rateLimit: { remaining: 59 - cost } });
  });

  it("is 200 if it has added one pet, with this pet and the errors of the others, which are not tried again", async () => {
    const free = await store.issueKey({ plan: "free" });
    await store.execute(`create function wait_long() returns trigger language plpgsql as
      'begin perform pg_sleep(5); return new; end'`);
    await store.execute(`create trigger wait before insert on pets for each row when (new.name = 'Bo')
      execute function wait_long()`);
    const answer = await store.ask(`mutation { ${create("a")} ${create("b", "Bo")} ${create("c", "Cy")} }`, free);
    const extensions = { code: "SERVICE_UNAVAILABLE", status: 503 };
    expect(answer).toMatchObject({
      status: 200,
      json: {
        data: { a: { id: expect.any(String) }, b: null, c: null },
        errors: ["b", "c"].map((alias) => ({ path: [alias], extensions })),
        extensions: { cost: 3 },
      },
      headers: { "retry-after": "1" },
      rateLimit: { remaining: 57 },
    });
    expect(await store.execute("select from pets where name = 'Cy'")).toEqual([]);
  });
});
