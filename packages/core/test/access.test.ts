import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAccountRepository, createKeyRepository, type Database, digestApiKey, mintApiKey } from "../src/index.js";
import { useDatabase } from "./database-fixture.js";

const server = useDatabase();
let database: Database;
beforeAll(() => {
  database = server.open({ poolSize: 2 });
});
afterAll(() => database[Symbol.asyncDispose]());

describe("accounts", () => {
  it("have a plan and, for Enterprise only, limits of their own", async () => {
    const accounts = createAccountRepository(database, "a test");
    const free = await accounts.create({ name: "a free one", plan: "free" });
    const agreed = { perMinute: 5_000, perDay: 1_000_000 };
    const enterprise = await accounts.create({ name: "a large one", plan: "enterprise", customLimits: agreed });
    expect(free).not.toHaveProperty("customLimits");
    expect(enterprise).toMatchObject({ plan: "enterprise", customLimits: agreed });
    expect(await accounts.list()).toEqual([free, enterprise]);
    await expect(accounts.create({ name: "without numbers", plan: "enterprise" })).rejects.toThrow();
    await expect(accounts.create({ name: "with numbers", plan: "free", customLimits: agreed })).rejects.toThrow();
  });

  it("have one name each, even if two are created at once", async () => {
    const accounts = createAccountRepository(database, "a test");
    const outcomes = await Promise.all([1, 2, 3].map(() => accounts.create({ name: "the same", plan: "pro" })));
    expect(outcomes.filter((account) => account !== undefined)).toHaveLength(1);
    expect(await accounts.findByName("the same")).toMatchObject({ plan: "pro" });
    expect(await accounts.findByName("another")).toBeUndefined();
  });
});

describe("a change of plan", () => {
  it("sets the agreed limits for Enterprise, and removes them for other plans", async () => {
    const accounts = createAccountRepository(database, "a test");
    const account = await newAccount();
    const customLimits = { perMinute: 2_000, perDay: 300_000 };
    const enterprise = { ...account, plan: "enterprise" as const, customLimits };
    expect(await accounts.setPlan({ name: account.name, plan: "enterprise", customLimits })).toEqual(enterprise);
    expect(await accounts.setPlan({ name: account.name, plan: "pro" })).toEqual({ ...account, plan: "pro" });
    expect(await accounts.setPlan({ name: "nobody", plan: "pro" })).toBeUndefined();
  });
});

describe("rotation", () => {
  const graceMs = 86_400_000;

  it("adds a new key of the same lineage, and the old one ends after the grace", async () => {
    const { keys, key } = await newKey();
    const rotated = await keys.rotate({ id: key.id, digest: randomDigest(), graceMs });
    expect(rotated?.replacement).toMatchObject({ accountId: key.accountId, lineage: key.id });
    expect(rotated?.replacement).not.toHaveProperty("expiresAt");
    expect(await millisecondsLeft(key.id)).toBeGreaterThan(graceMs - 60_000);
    expect(await millisecondsLeft(key.id)).toBeLessThanOrEqual(graceMs);
  });

  it("never extends the expiry of the old key", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    const { keys, key } = await newKey(expiresAt);
    expect(await keys.rotate({ id: key.id, digest: randomDigest(), graceMs })).toMatchObject({ old: { expiresAt } });
  });

  it("keeps the lineage and its lifted ban through any number of rotations", async () => {
    const { keys, key } = await newKey();
    await keys.liftBan(key.id);
    const second = await keys.rotate({ id: key.id, digest: randomDigest(), graceMs });
    const third = await keys.rotate({ id: second?.replacement.id ?? 0n, digest: randomDigest(), graceMs });
    expect(third?.replacement).toMatchObject({ lineage: key.id, banLiftedAt: expect.any(Date) });
    await keys.liftBan(third?.replacement.id ?? 0n);
    const lifted = (await keys.list(key.accountId)).map(({ banLiftedAt }) => banLiftedAt?.getTime());
    expect(new Set(lifted).size, "of all of them at once").toBe(1);
  });

  it("fails for a key that has ended and for an unknown key", async () => {
    const { keys, key } = await newKey();
    await keys.expire(key.id, { inMs: 0 });
    expect(await keys.rotate({ id: key.id, digest: randomDigest(), graceMs })).toBeUndefined();
    const other = await newKey();
    await keys.revoke(other.key.id);
    expect(await keys.rotate({ id: other.key.id, digest: randomDigest(), graceMs })).toBeUndefined();
    expect(await keys.rotate({ id: 9_999_999n, digest: randomDigest(), graceMs })).toBeUndefined();
    expect(await keys.list(key.accountId)).toHaveLength(1);
  });

  it("adds two keys if two run at once, and the old key ends after the shorter grace", async () => {
    const { keys, key } = await newKey();
    await Promise.all(
      [graceMs, 9 * graceMs].map((grace) => keys.rotate({ id: key.id, digest: randomDigest(), graceMs: grace })),
    );
    expect(await keys.list(key.accountId)).toHaveLength(3);
    expect(await millisecondsLeft(key.id)).toBeLessThanOrEqual(graceMs);
  });
});

describe("keys", () => {
  it("are found by their digest, have the plan of their account, and are stored only as SHA-256", async () => {
    const { keys, key, digest, secret } = await newKey(new Date("2030-01-01T00:00:00Z"));
    expect(await keys.findByDigest(digest)).toMatchObject({ ...key, plan: "free" });
    expect(await keys.list(key.accountId)).toEqual([key]);
    const rows = await server.execute("select api_keys::text as stored from api_keys");
    expect(JSON.stringify(rows)).not.toContain(secret.slice(10, 42));
  });

  it("are revoked once: a second revocation keeps the time of the first", async () => {
    const { keys, key } = await newKey();
    const first = await keys.revoke(key.id);
    expect(first?.revokedAt).toEqual(expect.any(Date));
    expect(await keys.revoke(key.id)).toEqual(first);
    expect(await keys.revoke(9_999_999n)).toBeUndefined();
  });

  it("end at a time, or after a duration by the clock of PostgreSQL", async () => {
    const { keys, key } = await newKey();
    const at = new Date("2030-01-01T00:00:00Z");
    expect(await keys.expire(key.id, { at })).toMatchObject({ expiresAt: at });
    await keys.expire(key.id, { inMs: 90_000 });
    expect(await millisecondsLeft(key.id)).toBeGreaterThan(30_000);
    expect(await millisecondsLeft(key.id)).toBeLessThanOrEqual(90_000);
  });

  it("tell how long they last, and how long ago a ban was lifted, by the clock of PostgreSQL", async () => {
    const { keys, key, digest } = await newKey();
    const minuteMs = 60_000;
    const find = async (change: string) => {
      await server.execute(`update api_keys set ${change} where id = ${key.id}`);
      return await keys.findByDigest(digest);
    };
    const unset = await keys.findByDigest(digest);
    expect(unset).not.toHaveProperty("expiresInMs");
    expect(unset).not.toHaveProperty("banLiftedAgoMs");
    for (const hours of [1, -1]) {
      const { expiresInMs = 0 } = (await find(`expires_at = now() + interval '${hours} hour'`)) ?? {};
      expect(expiresInMs).toBeLessThanOrEqual(hours * 60 * minuteMs);
      expect(expiresInMs).toBeGreaterThan((hours * 60 - 1) * minuteMs);
    }
    expect(await find("expires_at = 'infinity'")).toMatchObject({ expiresInMs: Number.POSITIVE_INFINITY });
    const { banLiftedAgoMs = 0 } = (await find("ban_lifted_at = now() - interval '1 minute'")) ?? {};
    expect(banLiftedAgoMs).toBeGreaterThanOrEqual(minuteMs);
    expect(banLiftedAgoMs).toBeLessThan(2 * minuteMs);
  });
});

function randomDigest(): string {
  return digestApiKey(mintApiKey("live", randomBytes));
}

async function newKey(expiresAt?: Date) {
  const keys = createKeyRepository(database, "a test");
  const { id: accountId } = await newAccount();
  const secret = mintApiKey("live", randomBytes);
  const digest = digestApiKey(secret);
  return { keys, secret, digest, key: await keys.add({ accountId, digest, ...(expiresAt && { expiresAt }) }) };
}

/** The time until a key ends, by the clock of PostgreSQL. */
async function millisecondsLeft(id: bigint): Promise<number> {
  const left = "(extract(epoch from expires_at - now()) * 1000)::float8 as ms";
  const [row] = await server.execute(`select ${left} from api_keys where id = ${id}`);
  return Number(row?.ms);
}

async function newAccount() {
  const name = mintApiKey("test", randomBytes);
  const account = await createAccountRepository(database, "a test").create({ name, plan: "free" });
  if (account === undefined) throw new Error("the name was taken");
  return account;
}
