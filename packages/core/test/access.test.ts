import { openSession } from "@petstore/harness/postgres";
import { describe, expect, it } from "vitest";
import type { KeyRecord } from "../src/index.js";
import { newKey, openStoredKeys, unknownId } from "./stored-keys-fixture.js";

const { accounts, keys, issueKey, execute, directUrl } = await openStoredKeys();
const graceMs = 86_400_000;
const time = new Date("2030-01-01T00:00:00Z");

describe("an account", () => {
  it("has a name of its own, even if two are created at once", async () => {
    const created = await Promise.all([1, 2].map(() => accounts.create({ name: "the same", plan: "free" })));
    expect(created.filter((account) => account !== undefined)).toHaveLength(1);
    expect(await accounts.findByName("another")).toBeUndefined();
  });

  it("has limits of its own with the plan Enterprise only", async () => {
    const { account } = await issueKey();
    const { name } = account;
    const customLimits = { perMinute: 2_000, perDay: 300_000 };
    const enterprise = { ...account, plan: "enterprise" as const, customLimits };
    expect(await accounts.setPlan(enterprise)).toEqual(enterprise);
    expect((await accounts.list()).at(-1)).toEqual(enterprise);
    await expect(accounts.setPlan({ name, plan: "enterprise" })).rejects.toThrow();
    await expect(accounts.setPlan({ name, plan: "free", customLimits })).rejects.toThrow();
    expect(await accounts.setPlan({ name, plan: "pro" })).toEqual({ ...account, plan: "pro" });
    expect(await accounts.setPlan({ name: "nobody", plan: "pro" })).toBeUndefined();
  });

  it("gets another name, unless another account has it, and stays the same otherwise", async () => {
    const [{ account, key }, { account: other }] = [await issueKey(), await issueKey()];
    const name = `${account.name} and sons`;
    expect(await accounts.rename(account.name, other.name)).toBe("taken");
    expect(await accounts.rename(account.name, name)).toEqual({ ...account, name });
    expect(await accounts.rename(account.name, name)).toBeUndefined();
    expect(await keys.list(account.id)).toEqual([key]);
  });

  it("is deleted with its keys, and their rotations and idempotency keys, but not with its pets", async () => {
    const { account, key } = await issueKey();
    await keys.rotate({ id: key.id, ...newKey(), graceMs });
    await execute(`with pet as (insert into pets (name, category_id, status) values ('Rex', 1, 'sold') returning id)
      insert into idempotency_keys select ${account.id}, 'once', '', id, now() from pet`);
    await keys.revokeAll(account.id);
    expect(await accounts.delete(account.id)).toEqual(account);
    expect(await accounts.delete(account.id)).toBeUndefined();
    expect(await keys.list(account.id)).toEqual([]);
    expect(await execute(`select from idempotency_keys where account_id = ${account.id}`)).toEqual([]);
    expect(await execute("select name from pets")).toEqual([{ name: "Rex" }]);
  });

  it("is not deleted while one of its keys works", async () => {
    const { account, key } = await issueKey({ expiresAt: time });
    const second = await keys.add({ accountId: account.id, ...newKey() });
    await keys.revoke(second.id);
    expect(await accounts.delete(account.id)).toBeUndefined();
    await keys.expire(key.id, { inMs: 0 });
    expect(await accounts.delete(account.id)).toEqual(account);
  });
});

describe("a rotation", () => {
  it("adds a key of the same lineage, name and scope, and the old one ends after the grace", async () => {
    const { key, digest } = await issueKey({ name: "website", scope: "read" });
    const stored = newKey();
    const rotated = await keys.rotate({ id: key.id, ...stored, graceMs });
    const { id, createdAt } = rotated?.replacement ?? key;
    expect(rotated?.replacement).toEqual({ ...key, id, createdAt, lineage: key.id, prefix: stored.prefix });
    expect(await keys.findByDigest(digest)).toMatchObject({ expiresInMs: atMost(graceMs) });
  });

  it("never extends the expiry of the old key", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    const { key } = await issueKey({ expiresAt });
    expect(await keys.rotate({ id: key.id, ...newKey(), graceMs })).toMatchObject({ old: { expiresAt } });
  });

  it("keeps the lineage and its lifted ban, any number of times", async () => {
    const { key } = await issueKey();
    await keys.liftBan(key.id);
    const second = await keys.rotate({ id: key.id, ...newKey(), graceMs });
    const third = await keys.rotate({ id: second?.replacement.id ?? 0n, ...newKey(), graceMs });
    expect(third?.replacement).toMatchObject({ lineage: key.id, banLiftedAt: expect.any(Date) });
    await keys.liftBan(third?.replacement.id ?? 0n);
    const lifted = (await keys.list(key.accountId)).map(({ banLiftedAt }) => banLiftedAt?.getTime());
    expect(new Set(lifted).size, "of all of them at once").toBe(1);
  });

  it("fails for a key that has ended and for an unknown key", async () => {
    const [expired, revoked] = [await issueKey(), await issueKey()];
    await keys.expire(expired.key.id, { inMs: 0 });
    await keys.revoke(revoked.key.id);
    for (const id of [expired.key.id, revoked.key.id, unknownId]) {
      expect(await keys.rotate({ id, ...newKey(), graceMs })).toBeUndefined();
    }
    expect(await keys.list(expired.key.accountId)).toHaveLength(1);
  });

  it("fails for a key that another change ends while the rotation waits", async () => {
    const { key } = await issueKey();
    const end = `update api_keys set expires_at = clock_timestamp() where id = ${key.id}`;
    const rotate = () => keys.rotate({ id: key.id, ...newKey(), graceMs });
    expect(await whileLocked(key, rotate, end)).toBeUndefined();
    expect(await keys.list(key.accountId)).toHaveLength(1);
  });

  it("adds two keys if two run at once, and the old key ends after the shorter grace", async () => {
    const { key, digest } = await issueKey();
    const rotate = (ms: number) => keys.rotate({ id: key.id, ...newKey(), graceMs: ms });
    await Promise.all([graceMs, 9 * graceMs].map(rotate));
    expect(await keys.list(key.accountId)).toHaveLength(3);
    expect(await keys.findByDigest(digest)).toMatchObject({ expiresInMs: atMost(graceMs) });
  });
});

describe("a key", () => {
  it("has no name and both scopes unless they are given, as a key of an earlier version", async () => {
    const { account } = await issueKey();
    const { digest } = newKey();
    await execute(`insert into api_keys (account_id, digest) values (${account.id}, '\\x${digest}')`);
    const found = await keys.findByDigest(digest);
    expect(found).toMatchObject({ scope: "both", isUsedToday: false });
    for (const absent of ["name", "prefix", "lastUsedOn"]) expect(found).not.toHaveProperty(absent);
  });

  it("gets another name or scope, and keeps the other one", async () => {
    const { key } = await issueKey({ name: "website", scope: "read" });
    expect(await keys.change(key.id, { scope: "write" })).toEqual({ ...key, scope: "write" });
    expect(await keys.change(key.id, { name: "form" })).toEqual({ ...key, scope: "write", name: "form" });
    expect(await keys.change(unknownId, { name: "none" })).toBeUndefined();
  });

  it("is found by its account, its digest or its visible prefix", async () => {
    const { key, account, text, digest, prefix } = await issueKey({ expiresAt: time });
    expect(await keys.list(account.id)).toEqual([key]);
    expect(await keys.findByDigest(digest)).toMatchObject({ ...key, plan: "free" });
    for (const searched of [text, prefix]) {
      expect(await keys.search(searched)).toEqual([{ ...key, accountName: account.name }]);
    }
    expect(await keys.search(newKey().prefix)).toEqual([]);
  });

  it("is stored as its SHA-256 and its first 18 characters: no table holds the rest", async () => {
    const { text } = await issueKey();
    const rows = await execute(
      "select api_keys::text as row from api_keys union all select audit_log::text from audit_log",
    );
    expect(JSON.stringify(rows)).toContain(text.slice(0, 18));
    expect(JSON.stringify(rows)).not.toContain(text.slice(0, 19));
    expect(JSON.stringify(rows)).not.toContain(text.slice(18, 24));
  });

  it("is revoked with all other keys of its account, and none of another one", async () => {
    const { key } = await issueKey();
    const { accountId } = key;
    const { key: ofAnother } = await issueKey();
    const second = await keys.add({ accountId, ...newKey() });
    const earlier = await keys.add({ accountId, ...newKey() });
    await keys.revoke(earlier.id);
    const revoked = await keys.revokeAll(accountId);
    expect(revoked.map(({ id }) => id).sort()).toEqual([key.id, second.id].sort());
    expect(await keys.revokeAll(accountId)).toEqual([]);
    expect(await keys.find(ofAnother.id)).toEqual(ofAnother);
  });

  it("is revoked with the replacement that a rotation adds while the revocation waits for it", async () => {
    const { key } = await issueKey();
    const { id, accountId } = key;
    const { digest } = newKey();
    const rotation = `insert into api_keys (account_id, digest, lineage) values (${accountId}, '\\x${digest}', ${id})`;
    await whileLocked(key, () => keys.revokeAll(accountId), rotation);
    const revoked = { revokedAt: expect.any(Date) };
    expect(await keys.list(accountId)).toMatchObject([revoked, revoked]);
  });

  it("ends at a time, or after a duration by the clock of PostgreSQL", async () => {
    const { key, digest } = await issueKey();
    expect(await keys.findByDigest(digest)).not.toHaveProperty("expiresInMs");
    expect(await keys.expire(key.id, { at: time })).toMatchObject({ expiresAt: time });
    for (const inMs of [90_000, -90_000]) {
      await keys.expire(key.id, { inMs });
      expect(await keys.findByDigest(digest)).toMatchObject({ expiresInMs: atMost(inMs) });
    }
    for (const [end, expiresInMs, year] of [
      ["infinity", Number.POSITIVE_INFINITY, 275_760],
      ["-infinity", Number.NEGATIVE_INFINITY, -271_821],
    ] as const) {
      await execute(`update api_keys set expires_at = '${end}' where id = ${key.id}`);
      const found = await keys.findByDigest(digest);
      expect([found?.expiresInMs, found?.expiresAt?.getUTCFullYear()]).toEqual([expiresInMs, year]);
    }
  });

  it("shows how long ago a ban was lifted, by the clock of PostgreSQL", async () => {
    const { key, digest } = await issueKey();
    expect(await keys.findByDigest(digest)).not.toHaveProperty("banLiftedAgoMs");
    await execute(`update api_keys set ban_lifted_at = now() - interval '1 minute' where id = ${key.id}`);
    expect(await keys.findByDigest(digest)).toMatchObject({ banLiftedAgoMs: atMost(120_000) });
  });
});

/** The milliseconds, or up to a minute less for the time that the test takes. */
function atMost(milliseconds: number): unknown {
  return expect.toSatisfy((actual: number) => actual <= milliseconds && actual >= milliseconds - 60_000);
}

/** Starts a change of a key, and makes another change of it when the first one waits for its row. */
async function whileLocked<Result>(
  { id }: KeyRecord,
  start: () => Promise<Result>,
  otherChange: string,
): Promise<Result> {
  await using other = await openSession(directUrl);
  await other.query(`begin; select from api_keys where id = ${id} for update`);
  const change = start();
  const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await expect.poll(() => execute(waiting)).toHaveLength(1);
  await other.query(`${otherChange}; commit`);
  return await change;
}
