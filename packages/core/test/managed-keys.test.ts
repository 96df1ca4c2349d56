import { describe, expect, it } from "vitest";
import { storedText, useStoredKeys } from "./stored-keys-fixture.js";

const unknownId = 9_999_999n;

const store = useStoredKeys();

describe("a key", () => {
  it("has a name and a scope, which its replacement keeps", async () => {
    const { keys, key } = await store.issueKey({ name: "website", scope: "read" });
    expect(key).toMatchObject({ name: "website", scope: "read" });
    const stored = storedText();
    const rotated = await keys.rotate({ id: key.id, ...stored, graceMs: 60_000 });
    expect(rotated?.replacement).toMatchObject({ name: "website", scope: "read", prefix: stored.prefix });
  });

  it("has no name and both scopes unless they are given, as a key of an earlier version", async () => {
    const { account } = await store.issueKey();
    const { digest } = storedText();
    await store.execute(`insert into api_keys (account_id, digest) values (${account.id}, '\\x${digest}')`);
    const found = await store.keys.findByDigest(digest);
    expect(found).toMatchObject({ scope: "both", isUsedToday: false });
    for (const absent of ["name", "prefix", "lastUsedOn"]) expect(found).not.toHaveProperty(absent);
  });

  it("gets another name or scope, and keeps the other one", async () => {
    const { keys, key } = await store.issueKey({ name: "website", scope: "read" });
    expect(await keys.change(key.id, { scope: "write" })).toEqual({ ...key, scope: "write" });
    expect(await keys.change(key.id, { name: "form" })).toEqual({ ...key, scope: "write", name: "form" });
    expect(await keys.change(unknownId, { name: "none" })).toBeUndefined();
  });

  it("is found by its digest or its visible prefix, with the name of its account", async () => {
    const { keys, key, text, account } = await store.issueKey();
    const { digest, prefix } = storedText(text);
    for (const searched of [{ digest }, { prefix }]) {
      expect(await keys.search(searched)).toEqual([{ ...key, accountName: account.name }]);
    }
    expect(await keys.search({ prefix: storedText().prefix })).toEqual([]);
  });

  it("is stored as its SHA-256 and its first 18 characters: no table holds the rest", async () => {
    const { text } = await store.issueKey();
    const rows = await store.execute(
      "select api_keys::text as row from api_keys union all select audit_log::text from audit_log",
    );
    expect(JSON.stringify(rows)).toContain(text.slice(0, 18));
    expect(JSON.stringify(rows)).not.toContain(text.slice(0, 19));
    expect(JSON.stringify(rows)).not.toContain(text.slice(18, 24));
  });

  it("is revoked with all other keys of its account, and none of another one", async () => {
    const { keys, key } = await store.issueKey();
    const { accountId } = key;
    const { key: ofAnother } = await store.issueKey();
    const second = await keys.add({ accountId, ...storedText() });
    const earlier = await keys.add({ accountId, ...storedText() });
    await keys.revoke(earlier.id);
    const revoked = await keys.revokeAll(accountId);
    expect(revoked.map(({ id }) => id).sort()).toEqual([key.id, second.id].sort());
    expect(await keys.revokeAll(accountId)).toEqual([]);
    expect(await keys.find(ofAnother.id)).toEqual(ofAnother);
  });
});

it("an account is suspended and resumed, and its keys show it", async () => {
  const { accounts, keys, digest, account } = await store.issueKey();
  expect(await accounts.suspend(account.name)).toMatchObject({ suspendedAt: expect.any(Date) });
  expect(await keys.findByDigest(digest)).toMatchObject({ accountSuspendedAt: expect.any(Date) });
  expect(await accounts.suspend(account.name), "again").toBeUndefined();
  expect(await accounts.resume(account.name)).not.toHaveProperty("suspendedAt");
  expect(await keys.findByDigest(digest)).not.toHaveProperty("accountSuspendedAt");
  expect(await accounts.resume(account.name), "again").toBeUndefined();
});
