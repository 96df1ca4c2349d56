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

describe("a change of plan", () => {
  it("takes the agreed numbers along to Enterprise, and drops them on the way back", async () => {
    const accounts = createAccountRepository(database);
    const account = await newAccount();
    const customLimits = { perMinute: 2_000, perDay: 300_000 };
    const enterprise = { ...account, plan: "enterprise" as const, customLimits };
    expect(await accounts.setPlan({ name: account.name, plan: "enterprise", customLimits })).toEqual(enterprise);
    expect(await accounts.setPlan({ name: account.name, plan: "pro" })).toEqual({ ...account, plan: "pro" });
    expect(await accounts.setPlan({ name: "nobody", plan: "pro" })).toBeUndefined();
  });
});

describe("rotation", () => {
  const at = new Date("2027-01-01T00:00:00Z");
  const endsAt = new Date("2027-01-02T00:00:00Z");

  it("puts a new key of the same lineage beside the old one, which ends with the grace", async () => {
    const { keys, key } = await newKey();
    const rotated = await keys.rotate({ id: key.id, digest: randomDigest(), at, endsAt });
    expect(rotated).toMatchObject({
      old: { ...key, expiresAt: endsAt },
      replacement: { accountId: key.accountId, lineage: key.id },
    });
    expect(rotated?.replacement).not.toHaveProperty("expiresAt");
  });

  it("never lets the old key live beyond its own expiry", async () => {
    const expiresAt = new Date("2027-01-01T12:00:00Z");
    const { keys, key } = await newKey(expiresAt);
    expect(await keys.rotate({ id: key.id, digest: randomDigest(), at, endsAt })).toMatchObject({ old: { expiresAt } });
  });

  it("keeps the lineage through any number of rotations, and what was lifted of it", async () => {
    const { keys, key } = await newKey();
    await keys.liftBan(key.id);
    const second = await keys.rotate({ id: key.id, digest: randomDigest(), at, endsAt });
    const third = await keys.rotate({ id: second?.replacement.id ?? 0n, digest: randomDigest(), at, endsAt });
    expect(third?.replacement).toMatchObject({ lineage: key.id, banLiftedAt: expect.any(Date) });
    await keys.liftBan(third?.replacement.id ?? 0n);
    const lifted = (await keys.list(key.accountId)).map(({ banLiftedAt }) => banLiftedAt?.getTime());
    expect(new Set(lifted).size, "of all of them at once").toBe(1);
  });

  it("is refused to a key that has ended already, and to none", async () => {
    const { keys, key } = await newKey(at);
    expect(await keys.rotate({ id: key.id, digest: randomDigest(), at, endsAt })).toBeUndefined();
    const other = await newKey();
    await keys.revoke(other.key.id, at);
    expect(await keys.rotate({ id: other.key.id, digest: randomDigest(), at, endsAt })).toBeUndefined();
    expect(await keys.rotate({ id: 9_999_999n, digest: randomDigest(), at, endsAt })).toBeUndefined();
    expect(await keys.list(key.accountId)).toHaveLength(1);
  });

  it("two at once make two keys, and the old one ends at the earlier of both graces", async () => {
    const { keys, key } = await newKey();
    const later = new Date("2027-01-09T00:00:00Z");
    await Promise.all(
      [endsAt, later].map((end) => keys.rotate({ id: key.id, digest: randomDigest(), at, endsAt: end })),
    );
    expect(await keys.list(key.accountId)).toHaveLength(3);
    expect(await keys.find(key.id)).toMatchObject({ expiresAt: endsAt });
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

function randomDigest(): string {
  return digestApiKey(mintApiKey("live", randomBytes));
}

async function newKey(expiresAt?: Date) {
  const keys = createKeyRepository(database);
  const { id: accountId } = await newAccount();
  return { keys, key: await keys.add({ accountId, digest: randomDigest(), ...(expiresAt && { expiresAt }) }) };
}

async function newAccount() {
  const account = await createAccountRepository(database).create({
    name: mintApiKey("test", randomBytes),
    plan: "free",
  });
  if (account === undefined) throw new Error("the name was taken");
  return account;
}
