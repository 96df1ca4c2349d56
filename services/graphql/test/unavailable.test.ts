// Operations that PostgreSQL does not execute in time. tools/checks/conformance/parity tests an unavailable PostgreSQL.
import { describe, expect, it } from "vitest";
import { errorBody, openSharedStore } from "./test-store.js";

const store = await openSharedStore({ DATABASE_READ_TIMEOUT_MS: "3000", DATABASE_WRITE_TIMEOUT_MS: "3000" });
const create = (alias: string, name = "Ada") => `${alias}: createPet(input: {name: "${name}", categoryId: 1}) { id }`;
const message = "The database did not answer in time; try again shortly.";

describe("an operation whose statements all time out", () => {
  it.each([
    ["three lists", "{ a: pets { id } b: petsConnection { nodes { id } } c: pets { id } }", 3],
    ["two mutations", `mutation { ${create("a")} ${create("b")} }`, 2],
  ])("%s gets 503 with Retry-After, gives all units back, and works afterwards", async (_what, query, cost) => {
    const caller = await store.issueKey({ plan: "free" });
    await store.ask("{ __typename }", caller);
    await store.execute("begin");
    await store.execute("lock table pets in access exclusive mode");
    const answer = await store.ask(query, caller);
    await store.execute("rollback");
    expect(answer).toMatchObject({
      status: 503,
      json: errorBody(503, "SERVICE_UNAVAILABLE", message),
      headers: { "retry-after": "1" },
      rateLimit: { limit: 60, remaining: 59 },
    });
    expect(answer.json).not.toHaveProperty("data");
    expect(await store.ask(query, caller)).toMatchObject({ status: 200, rateLimit: { remaining: 59 - cost } });
  });
});

it("a mutation that has added one pet is 200, with the error of the other, and counts", async () => {
  const caller = await store.issueKey({ plan: "free" });
  await store.execute(`create function wait_long() returns trigger language plpgsql as
    'begin perform pg_sleep(5); return new; end'`);
  await store.execute(`create trigger wait before insert on pets for each row when (new.name = 'Bo')
    execute function wait_long()`);
  const answer = await store.ask(`mutation { ${create("a")} ${create("b", "Bo")} }`, caller);
  const extensions = { code: "SERVICE_UNAVAILABLE", status: 503 };
  expect(answer).toMatchObject({
    status: 200,
    json: { data: null, errors: [{ path: ["b"], extensions }], extensions: { cost: 2 } },
    headers: { "retry-after": "1" },
    rateLimit: { remaining: 58 },
  });
});
