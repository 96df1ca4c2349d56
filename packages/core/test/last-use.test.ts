import { openSession } from "@petstore/harness/postgres";
import { describe, expect, it } from "vitest";
import type { KeyWithAccount } from "../src/access/key-repository.js";
import { createKeyUses, writeLastUse } from "../src/access/key-uses.js";
import { recordStatements } from "./database-fixture.js";
import { silentLog } from "./logs.js";
import { openStoredKeys } from "./stored-keys-fixture.js";

const { database, keys, issueKey, execute, directUrl } = await openStoredKeys();

describe("the day of the last use", () => {
  it("is written once a day for each key that is not refused", async () => {
    const issued = await issueKey();
    const { run, ran } = recordStatements(database);
    using uses = createKeyUses({ run }, silentLog);
    const before = await read(issued);
    for (let request = 0; request < 100; request += 1) uses.record(before);
    await expect.poll(async () => (await read(issued)).lastUsedOn).toBe(await databaseDay());
    const after = await read(issued);
    expect(after.isUsedToday).toBe(true);
    uses.record(after);
    for (const state of [{ revokedAt: new Date(0) }, { expiresInMs: 0 }, { accountSuspendedAt: new Date(0) }]) {
      uses.record({ ...before, ...state });
    }
    const other = await read(await issueKey());
    uses.record({ ...other, expiresInMs: 1 });
    await expect.poll(() => ran).toMatchObject([{ values: { ids: [before.id] } }, { values: { ids: [other.id] } }]);
  });

  it("is written again on another day", async () => {
    const issued = await issueKey();
    const { key } = issued;
    await execute(`update api_keys set last_used_on = '2020-02-29' where id = ${key.id}`);
    expect(await read(issued)).toMatchObject({ lastUsedOn: "2020-02-29", isUsedToday: false });
    await database.run(writeLastUse, { ids: [key.id] });
    expect(await read(issued)).toMatchObject({ lastUsedOn: await databaseDay(), isUsedToday: true });
  });

  it("does not wait for a key that another transaction is changing", async () => {
    const issued = await issueKey();
    const { key } = issued;
    await using other = await openSession(directUrl);
    await other.query(`begin; update api_keys set expires_at = now() where id = ${key.id}`);
    await database.run(writeLastUse, { ids: [key.id] });
    await other.query("rollback");
    expect((await read(issued)).isUsedToday).toBe(false);
  });
});

async function read({ digest }: { readonly digest: string }): Promise<KeyWithAccount> {
  const found = await keys.findByDigest(digest);
  if (found === undefined) throw new Error("the key is not stored");
  return found;
}

async function databaseDay(): Promise<unknown> {
  const [row] = await execute("select to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as day");
  return row?.day;
}
