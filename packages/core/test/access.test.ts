import { randomBytes } from "node:crypto";
import { createTestDatabase, type TestDatabase } from "@petstore/testing";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createAccountRepository,
  createKeyRepository,
  type Database,
  digestApiKey,
  migrate,
  mintApiKey,
  openDatabase,
} from "../src/index.js";

let server: TestDatabase;
let database: Database;
beforeAll(async () => {
  server = await createTestDatabase();
  await migrate(server.url);
  const limits = { poolSize: 2, acquireTimeoutMs: 1_000, statementTimeoutMs: 1_000 };
  database = openDatabase({ url: server.url, ...limits }, { info() {}, warn() {}, error() {} });
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

describe("accounts", () => {
  it("have a plan and, for Enterprise alone, numbers of their own", async () => {
    const accounts = createAccountRepository(database);
    const free = await accounts.create({ name: "a free one", plan: "free" });
    const agreed = { perMinute: 5_000, perDay: 1_000_000 };
    const enterprise = await accounts.create({ name: "a large one", plan: "enterprise", customLimits: agreed });
    expect(free).not.toHaveProperty("customLimits");
    expect(enterprise).toMatchObject({ plan: "enterprise", customLimits: agreed });
    expect(await accounts.list()).toEqual([free, enterprise]);
    await expect(accounts.create({ name: "without numbers", plan: "enterprise" })).rejects.toThrow();
    await expect(accounts.create({ name: "with numbers", plan: "free", customLimits: agreed })).rejects.toThrow();
  });

  it("have one name each, also when two are created at once", async () => {
    const accounts = createAccountRepository(database);
    const outcomes = await Promise.all([1, 2, 3].map(() => accounts.create({ name: "the same", plan: "pro" })));
    expect(outcomes.filter((account) => account !== undefined)).toHaveLength(1);
    expect(await accounts.findByName("the same")).toMatchObject({ plan: "pro" });
    expect(await accounts.findByName("another")).toBeUndefined();
  });
});

describe("keys", () => {
  it("are found by their digest with the plan of their account", async () => {
    const account = await newAccount();
    const keys = createKeyRepository(database);
    const digest = digestApiKey(mintApiKey("live", randomBytes));
    const expiresAt = new Date("2030-01-01T00:00:00Z");
    const key = await keys.add({ accountId: account.id, digest, expiresAt });
    expect(await keys.findByDigest(digest)).toEqual({ ...key, plan: "free" });
    expect(key).toMatchObject({ accountId: account.id, expiresAt });
    expect(await keys.list(account.id)).toEqual([key]);
  });

  it("are revoked once: a second revocation keeps the first one's time", async () => {
    const account = await newAccount();
    const keys = createKeyRepository(database);
    const { id } = await keys.add({ accountId: account.id, digest: digestApiKey(mintApiKey("live", randomBytes)) });
    const first = new Date("2026-01-01T00:00:00Z");
    expect(await keys.revoke(id, first)).toMatchObject({ revokedAt: first });
    expect(await keys.revoke(id, new Date("2027-01-01T00:00:00Z"))).toMatchObject({ revokedAt: first });
    expect(await keys.revoke(9_999_999n, first)).toBeUndefined();
  });

  it("are stored as SHA-256 alone: no column of the database holds one", async () => {
    const account = await newAccount();
    const key = mintApiKey("live", randomBytes);
    await createKeyRepository(database).add({ accountId: account.id, digest: digestApiKey(key) });
    const client = new Client({ connectionString: server.url });
    await client.connect();
    const { rows } = await client.query("select api_keys::text as stored from api_keys");
    await client.end();
    expect(JSON.stringify(rows)).not.toContain(key.slice(10, 42));
  });
});

async function newAccount() {
  const account = await createAccountRepository(database).create({
    name: mintApiKey("test", randomBytes),
    plan: "free",
  });
  if (account === undefined) throw new Error("the name was taken");
  return account;
}
