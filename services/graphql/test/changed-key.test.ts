// The key changes while a mutation runs. The first create of the mutation waits for a lock on the table `pets`.
import { migrate } from "@petstore/core";
import { createTestDatabase, shared } from "@petstore/harness";
import { query } from "@petstore/harness/postgres";
import { beforeEach, expect, it, vi } from "vitest";
import { errorsOf, openSharedStore } from "./test-store.js";

const database = await shared(createTestDatabase());
await migrate(database.url);
const store = await openSharedStore({
  DATABASE_URL: database.url,
  DATABASE_DIRECT_URL: database.directUrl,
  // One look-up of these tests waits for a lock until this timeout.
  DATABASE_READ_TIMEOUT_MS: "3000",
  // Longer than a busy machine needs to change the key while the first create waits.
  DATABASE_WRITE_TIMEOUT_MS: "60000",
});

const create = (name: string) => `createPet(input: {name: "${name}", categoryId: 1}) { id }`;
const mutation = `mutation { a: ${create("Ada")} b: ${create("Bo")} c: ${create("Cy")} }`;
/** Nothing is created. The code of the error shows whether the service knows the change. */
const probe = `mutation { ${create("")} }`;
const timeout = 20_000;

beforeEach(() => store.execute("delete from pets"));

async function untilFirstCreateWaits(): Promise<void> {
  const waiting = "select from pg_locks where relation = 'pets'::regclass and not granted";
  await vi.waitUntil(async () => (await query(database.directUrl, waiting)).length > 0, { timeout });
}

it.each([
  ["revoked", "update api_keys set revoked_at = now() where id = $key", "API_KEY_REVOKED", 401],
  ["expired", "update api_keys set expires_at = now() where id = $key", "API_KEY_EXPIRED", 401],
  ["limited to reading", "update api_keys set scope = 'read' where id = $key", "INSUFFICIENT_SCOPE", 403],
  [
    "suspended with its account",
    "update accounts set suspended_at = now() where id = $account",
    "ACCOUNT_SUSPENDED",
    403,
  ],
])("a mutation creates no further pet after its key was %s", async (_what, change, code, status) => {
  const caller = await store.issueKey();
  await store.execute("begin");
  await store.execute("lock table pets in access exclusive mode");
  const answered = store.ask(mutation, caller);
  await untilFirstCreateWaits();
  const changed = change.replace("$key", `${caller.keyId}`).replace("$account", `${caller.accountId}`);
  await query(database.directUrl, changed);
  const known = async () => errorsOf(await store.ask(probe, caller))[0]?.extensions?.code === code;
  await vi.waitUntil(known, { timeout });
  await store.execute("rollback");
  expect(await answered).toMatchObject({
    status: 200,
    json: {
      data: { a: { id: expect.any(String) }, b: null, c: null },
      errors: ["b", "c"].map((alias) => ({ path: [alias], extensions: { code, status } })),
      extensions: { cost: 3 },
    },
  });
  expect(await store.execute("select name from pets")).toEqual([{ name: "Ada" }]);
});

it("a mutation creates no further pet after its key became stale", async () => {
  const caller = await store.issueKey();
  await store.ask(probe, caller);
  await store.execute("begin");
  await store.execute("lock table api_keys in access exclusive mode");
  await store.execute("savepoint only_keys");
  await store.execute("lock table pets in access exclusive mode");
  const answered = store.ask(mutation, caller);
  await untilFirstCreateWaits();
  store.clock.nowMs += 5_001;
  await store.execute("rollback to savepoint only_keys");
  expect(await answered).toMatchObject({
    status: 200,
    json: {
      data: { a: { id: expect.any(String) }, b: null, c: null },
      errors: ["b", "c"].map((alias) => ({
        path: [alias],
        extensions: { code: "SERVICE_UNAVAILABLE", status: 503 },
      })),
    },
  });
  await store.execute("rollback");
  expect(await store.execute("select name from pets")).toEqual([{ name: "Ada" }]);
});
