import { createTestDatabase, type TestDatabase } from "@petstore/harness";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, migrate, openDatabase } from "../src/index.js";
import { forgetIdempotencyKeys } from "../src/pets/idempotency.js";

let server: TestDatabase;
let database: Database;
let client: Client;
beforeAll(async () => {
  server = await createTestDatabase();
  await migrate(server.directUrl);
  const limits = { poolSize: 4, acquireTimeoutMs: 1_000, readTimeoutMs: 1_000, writeTimeoutMs: 1_000 };
  database = openDatabase({ url: server.url, ...limits }, { info() {}, warn() {}, error() {} });
  client = new Client({ connectionString: server.directUrl });
  await client.connect();
  await client.query("insert into accounts (id, name, plan) overriding system value values (1, 'one', 'free')");
  await client.query(
    "insert into pets (id, name, category_id, status) overriding system value values (1, 'Ada', 1, 'sold')",
  );
});
afterAll(async () => {
  await client.end();
  await database[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

describe("keys older than 24 hours", () => {
  it("are all deleted, and no others are", async () => {
    await remember(2_500, "24 hours 1 millisecond");
    await remember(3, "23 hours");
    expect(await forgetIdempotencyKeys(database)).toBe(2_500);
    expect(await forgetIdempotencyKeys(database)).toBe(0);
    expect((await client.query("select count(*)::int from idempotency_keys")).rows).toEqual([{ count: 3 }]);
  });

  it("are deleted once by several instances at the same time", async () => {
    await remember(4_200, "25 hours");
    const forgotten = await Promise.all(Array.from({ length: 4 }, () => forgetIdempotencyKeys(database)));
    expect(forgotten.reduce((sum, count) => sum + count)).toBe(4_200);
  });
});

/** Stores keys of this age, by the clock of PostgreSQL. */
async function remember(count: number, age: string): Promise<void> {
  await client.query(
    `insert into idempotency_keys (account_id, key, request_digest, pet_id, created_at)
     select 1, $1 || number, '', 1, now() - $1::interval from generate_series(1, $2::int) number`,
    [age, count],
  );
}
