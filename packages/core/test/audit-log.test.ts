import { describe, expect, it } from "vitest";
import { createKeyRepository, listAuditEntries } from "../src/index.js";
import { actor, type IssuedKey, newKey, openStoredKeys, unknownId } from "./stored-keys-fixture.js";

const { database, accounts, keys, issueKey, execute } = await openStoredKeys();

describe("the audit log", () => {
  const changes: Readonly<Record<string, (issued: IssuedKey) => Promise<unknown>>> = {
    "account set-plan": ({ account }) => accounts.setPlan({ ...account, plan: "pro" }),
    "account suspend": ({ account }) => accounts.suspend(account.name),
    "account resume": async ({ account }) => {
      await accounts.suspend(account.name);
      await accounts.resume(account.name);
    },
    "key change": ({ key }) => keys.change(key.id, { scope: "read" }),
    "key rotate": ({ key }) => keys.rotate({ id: key.id, ...newKey(), graceMs: 1_000 }),
    "key revoke": ({ key }) => keys.revoke(key.id),
    "key revoke-all": ({ account }) => keys.revokeAll(account.id),
    "key expire": ({ key }) => keys.expire(key.id, { inMs: 1_000 }),
    "ban lift": ({ key }) => keys.liftBan(key.id),
  };

  it("has an entry for a new account and a new key", async () => {
    const { key, account } = await issueKey({ name: "website" });
    const common = { actor, accountId: account.id, accountName: account.name, at: expect.any(Date) };
    const { prefix } = key;
    const details = { name: "website", prefix, scope: "both", lineage: Number(key.id) };
    expect(await listAuditEntries(database, { accountId: account.id, limit: 10 })).toEqual([
      { ...common, action: "key issue", keyId: key.id, details },
      { ...common, action: "account create", details: { name: account.name, plan: "free" } },
    ]);
  });

  it.each(Object.entries(changes))("has an entry for %s", async (action, change) => {
    const issued = await issueKey();
    await change(issued);
    const [entry] = await listAuditEntries(database, { accountId: issued.account.id, limit: 1 });
    expect(entry).toMatchObject({ actor, action });
    expect(entry?.keyId === undefined).toBe(action.startsWith("account"));
  });

  it("has the state after the change, of each key that changed", async () => {
    const { key } = await issueKey();
    const { accountId } = key;
    const rotated = await keys.rotate({ id: key.id, ...newKey(), graceMs: 1_000 });
    await keys.liftBan(key.id);
    const lifted = await listAuditEntries(database, { accountId, limit: 2 });
    expect(lifted.map(({ keyId }) => keyId).sort()).toEqual([key.id, rotated?.replacement.id].sort());
    for (const { details } of lifted) expect(details).toMatchObject({ banLiftedAt: expect.any(String) });
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
    expect(await accounts.create({ name: account.name, plan: "pro" })).toBeUndefined();
    await accounts.resume(account.name);
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

  it("keeps the entries of a deleted account", async () => {
    const { accountId } = (await issueKey()).key;
    await execute(`delete from accounts where id = ${accountId}`);
    const [entry] = await listAuditEntries(database, { accountId, limit: 1 });
    expect(entry).toMatchObject({ action: "key issue", accountId });
    expect(entry).not.toHaveProperty("accountName");
  });
});
