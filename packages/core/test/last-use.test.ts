import { openSession } from "@petstore/harness/postgres";
import { describe, expect, it } from "vitest";
import type { KeyWithAccount } from "../src/access/key-repository.js";
import { createKeyUses, writeLastUse } from "../src/access/key-uses.js";
import type { Database } from "../src/index.js";
import { silentLog } from "./logs.js";
import { type IssuedKey, openStoredKeys } from "./stored-keys-fixture.js";

const { database, keys, issueKey, execute, directUrl } = await openStoredKeys();

describe("the day of the last use", () => {
  it("is written once a day for each key", async () => {
    const issued = await issueKey();
    const statements: unknown[] = [];
    using uses = createKeyUses(countingIn(statements), silentLog);
    const before = await read(issued);
    for (let request = 0; request < 100; request += 1) uses.record(before);
    await expect.poll(async () => (await read(issued)).lastUsedOn).toBe(await databaseDay());
    const after = await read(issued);
    expect(after.isUsedToday).toBe(true);
    uses.record(after);
    const other = await issueKey();
    uses.record(await read(other));
    await expect.poll(async () => (await read(other)).isUsedToday).toBe(true);
    expect(statements).toEqual([[before.id], [other.key.id]]);
  });

  it("is written again on another day", async () => {
    const issued = await issueKey();
    const { key } = issued;
    await execute(`update api_keys set last_used_on = '2020-02-29' where id = ${key.id}`);
    expect(await read(issued)).toMatchObject({ lastUsedOn: "2020-02-29", isUsedToday: false });
    await database.run(writeLastUse, { ids: [key.id] });
    expect(await read(issued)).toMatchObject({ lastUsedOn: await databaseDay(), isUsedToday: true });
  });

  it("is not written for a key that is refused", async () => {
    const issued = await issueKey();
    const working = await read(issued);
    const statements: unknown[] = [];
    using uses = createKeyUses(countingIn(statements), silentLog);
    for (const state of [{ revokedAt: new Date(0) }, { expiresInMs: 0 }, { accountSuspendedAt: new Date(0) }]) {
      uses.record({ ...working, ...state });
    }
    uses.record({ ...working, expiresInMs: 1 });
    await expect.poll(() => statements).toEqual([[working.id]]);
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

async function read({ digest }: Pick<IssuedKey, "digest">): Promise<KeyWithAccount> {
  const found = await keys.findByDigest(digest);
  if (found === undefined) throw new Error("the key is not stored");
  return found;
}

/** The real database. Adds the keys of each statement that it runs to a list. */
function countingIn(statements: unknown[]): Pick<Database, "run"> {
  return {
    run(statement, values) {
      statements.push((values as { readonly ids: unknown }).ids);
      return database.run(statement, values);
    },
  };
}

async function databaseDay(): Promise<unknown> {
  const [row] = await execute("select to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as day");
  return row?.day;
}
