// A PostgreSQL that still answers, but not in time. services/standalone/test/both-apis.test.ts tests the responses while it is
// unavailable, tools/checks/openapi the 503 and the 500 of each operation, and services/graphql/test/errors.test.ts that a
// 503 gives the units back.
import { describe, expect, it } from "vitest";
import { openSharedStore } from "./test-store.js";

const body = '{"name":"Ada","categoryId":1}';

describe("while a table is locked for writes", async () => {
  const store = await openSharedStore({ DATABASE_ACQUIRE_TIMEOUT_MS: "300", DATABASE_WRITE_TIMEOUT_MS: "2000" });

  it("a create gets 503 because the database did not answer in time; lists and /readyz still work", async () => {
    const { key } = await store.issueKey();
    await store.call("GET", "/v1/pets", { key });
    await store.execute("begin");
    await store.execute("lock table pets in share mode");
    const creates = Array.from({ length: 30 }, (_, index) =>
      store.call("POST", "/v1/pets", { key, body, headers: { "Idempotency-Key": `${index}` } }),
    );
    // The pool is used up: the first create got no connection in time.
    await Promise.race(creates);
    expect((await store.call("GET", "/readyz")).json).toEqual({ status: "ready" });
    expect((await store.call("GET", "/v1/pets", { key })).status).toBe(200);
    const answers = await Promise.all(creates);
    await store.execute("rollback");
    const message = "The database did not answer in time; try again shortly.";
    const refused = { code: "SERVICE_UNAVAILABLE", message, status: 503 };
    expect(answers.map(({ json }) => json)).toEqual(creates.map(() => refused));
    expect((await store.call("POST", "/v1/pets", { key, body })).status).toBe(201);
  });
});
