// A request that is refused before the execution gets the HTTP status and the headers of REST, and no data.
import { randomBytes } from "node:crypto";
import { mintApiKey } from "@petstore/core";
import { afterAll, describe, expect, it } from "vitest";
import { errorsOf, openGraphqlStore } from "./test-store.js";

const store = await openGraphqlStore({
  environment: { DATABASE_READ_TIMEOUT_MS: "3000", DATABASE_WRITE_TIMEOUT_MS: "3000" },
});
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();
const query = "{ pets { id } }";

const refused = (status: number, code: string) => ({
  status,
  json: { errors: [{ message: expect.any(String), extensions: { code, status } }] },
});

it.each(["{ __schema { types { name } } }", "{ pets("])("without a key, %s is 401 and has no data", async (asked) => {
  const answer = await store.ask(asked);
  expect(answer).toMatchObject({ ...refused(401, "API_KEY_MISSING"), rateLimit: { limit: 300 } });
  expect(answer.json).not.toHaveProperty("data");
});

it("a create that waits for a locked table gets 503: the database did not answer in time", async () => {
  await store.execute("begin");
  await store.execute("lock table pets in share mode");
  const mutation = 'mutation { createPet(input: {name: "Ada", categoryId: 1}) { id } }';
  const [created, listed] = await Promise.all([store.ask(mutation, { key }), store.ask(query, { key })]);
  await store.execute("rollback");
  expect(listed.status).toBe(200);
  expect(created.headers["retry-after"]).toBe("1");
  expect(errorsOf(created)).toMatchObject([
    {
      message: "The database did not answer in time; try again shortly.",
      extensions: { code: "SERVICE_UNAVAILABLE", status: 503 },
    },
  ]);
});

describe("while no database accepts connections", async () => {
  const unavailable = await openGraphqlStore({
    environment: { DATABASE_URL: "postgres://nobody@127.0.0.1:1/nothing" },
  });
  afterAll(() => unavailable[Symbol.asyncDispose]());

  it("a key that cannot be checked gets 503 with Retry-After, and costs its address nothing", async () => {
    const answer = await unavailable.ask(query, { key: mintApiKey("live", randomBytes) });
    expect(answer).toMatchObject({ ...refused(503, "SERVICE_UNAVAILABLE"), rateLimit: { limit: 300, remaining: 300 } });
    expect(answer.headers["retry-after"]).toBe("1");
  });
});

describe("while statements time out", () => {
  const whileLocked = async (asked: string, caller: { key: string }) => {
    await store.ask("{ __typename }", caller);
    await store.execute("begin");
    await store.execute("lock table pets in access exclusive mode");
    const answer = await store.ask(asked, caller);
    await store.execute("rollback");
    return answer;
  };

  it.each([
    ["a list", query, 1],
    ["a connection", "{ petsConnection { nodes { id } } }", 1],
    ["three lists", "{ a: pets { id } b: pets { id } c: pets { id } }", 3],
    ["a mutation", 'mutation { createPet(input: {name: "Ada", categoryId: 1}) { id } }', 1],
    [
      "two mutations",
      'mutation { a: createPet(input: {name: "Ada", categoryId: 1}) { id } b: createPet(input: {name: "Ada", categoryId: 1}) { id } }',
      2,
    ],
  ])("%s gets 503 with Retry-After, gives all units back, and works afterwards", async (_what, asked, cost) => {
    const caller = await store.issueKey({ plan: "free" });
    const answer = await whileLocked(asked, caller);
    expect(answer).toMatchObject({ ...refused(503, "SERVICE_UNAVAILABLE"), rateLimit: { limit: 60, remaining: 59 } });
    expect(answer.headers["retry-after"]).toBe("1");
    expect(await store.ask(asked, caller)).toMatchObject({ status: 200, rateLimit: { remaining: 59 - cost } });
  });

  it("a mutation that has added one pet is 200, with the error of the other, and counts", async () => {
    const caller = await store.issueKey({ plan: "free" });
    await store.execute(`create function wait_long() returns trigger language plpgsql as
      'begin perform pg_sleep(5); return new; end'`);
    await store.execute(`create trigger wait before insert on pets for each row when (new.name = 'Bo')
      execute function wait_long()`);
    const answer = await store.ask(
      'mutation { a: createPet(input: {name: "Ada", categoryId: 1}) { id } b: createPet(input: {name: "Bo", categoryId: 1}) { id } }',
      caller,
    );
    expect(answer).toMatchObject({
      status: 200,
      json: {
        data: null,
        errors: [{ path: ["b"], extensions: { code: "SERVICE_UNAVAILABLE", status: 503 } }],
        extensions: { cost: 2 },
      },
      rateLimit: { remaining: 58 },
    });
    expect(answer.headers["retry-after"]).toBe("1");
  });
});
