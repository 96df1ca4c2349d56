import { describe, expect, it } from "vitest";
import { createKeyRepository, listAuditEntries } from "../src/index.js";
import { actor, newKey, openStoredKeys, unknownId } from "./stored-keys-fixture.js";

const { database, accounts, keys, issueKey, execute } = await openStoredKeys();

describe("the audit log", () => {
  it("has an entry for each changed account and key, with its state after the change, newest first", async () => {
    const { account, key } = await issueKey({ name: "website" });
    const { name } = account;
    const { id, prefix } = key;
    await accounts.setPlan({ name, plan: "pro" });
    await accounts.suspend(name);
    await accounts.resume(name);
    await keys.change(id, { scope: "read" });
    await keys.liftBan(id);
    const rotated = await keys.rotate({ id, ...newKey(), graceMs: 1_000 });
    await keys.expire(id, { inMs: 1_000 });
    await keys.revoke(id);
    await keys.revokeAll(account.id);
    const entries = await listAuditEntries(database, { accountId: account.id, limit: 20 });
    const common = { actor, accountId: account.id, accountName: name, at: expect.any(Date) };
    const details = { name: "website", prefix, scope: "both", lineage: Number(id) };
    expect(entries.slice(-2)).toEqual([
      { ...common, action: "key issue", keyId: id, details },
      { ...common, action: "account create", details: { name, plan: "free" } },
    ]);
    const replacement = rotated?.replacement.id;
    const time = expect.any(String);
    expect(entries.slice(0, -2)).toMatchObject([
      { action: "key revoke-all", keyId: replacement, details: { revokedAt: time } },
      { action: "key revoke", keyId: id, details: { revokedAt: time } },
      { action: "key expire", keyId: id, details: { expiresAt: time } },
      { action: "key rotate", keyId: replacement, details: { scope: "read", banLiftedAt: time } },
      { action: "key rotate", keyId: id, details: { expiresAt: time } },
      { action: "ban lift", keyId: id, details: { banLiftedAt: time } },
      { action: "key change", keyId: id, details: { scope: "read" } },
      { action: "account resume", details: { name, plan: "pro" } },
      { action: "account suspend", details: { suspendedAt: time } },
      { action: "account set-plan", details: { plan: "pro" } },
    ]);
  });

  it("has no entry for a call that changes nothing", async () => {
    const { key, account } = await issueKey();
    await keys.revoke(key.id);
    const before = await listAuditEntries(database, { limit: 100 });
    await keys.revoke(key.id);
    await keys.revokeAll(account.id);
    await keys.expire(key.id, { inMs: 0 });
    await keys.rotate({ id: key.id, ...newKey(), graceMs: 0 });
    await keys.liftBan(unknownId);
    await accounts.create({ name: account.name, plan: "pro" });
    await accounts.resume(account.name);
    await accounts.rename(account.name, account.name);
    await accounts.delete(unknownId);
    expect(await listAuditEntries(database, { limit: 100 })).toEqual(before);
  });

  it("is written in the transaction of the change: without an entry nothing changes", async () => {
    const { key } = await issueKey();
    await execute("alter table audit_log add constraint planted check (actor <> 'nobody')");
    const keysOfNobody = createKeyRepository(database, "nobody");
    await expect(keysOfNobody.revoke(key.id)).rejects.toMatchObject({ code: "INTERNAL_ERROR" });
    await execute("alter table audit_log drop constraint planted");
    expect(await keys.find(key.id)).toEqual(key);
  });

  it("keeps the entries of an account that is renamed and deleted", async () => {
    const { account, key } = await issueKey();
    const { accountId } = key;
    await accounts.rename(account.name, "another name");
    await keys.revoke(key.id);
    await accounts.delete(accountId);
    const entries = await listAuditEntries(database, { accountId, limit: 20 });
    expect(entries).toMatchObject([
      { action: "account delete", accountId, details: { name: "another name", plan: "free" } },
      { action: "key revoke", keyId: key.id },
      { action: "account rename", details: { name: "another name" } },
      { action: "key issue", keyId: key.id },
      { action: "account create", details: { name: account.name } },
    ]);
    for (const entry of entries) expect(entry).not.toHaveProperty("accountName");
  });
});
