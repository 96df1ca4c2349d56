import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createEndingKeys, selectEndingKeys } from "../src/access/ending-keys.js";
import type { Database } from "../src/database/database.js";
import { Problem } from "../src/index.js";
import { recordLog } from "./logs.js";
import { openStoredKeys } from "./stored-keys-fixture.js";

const { database, keys, accounts, issueKey, execute } = await openStoredKeys();
const usedToday = "last_used_on = (now() at time zone 'UTC')::date";

beforeEach(() => execute("truncate accounts cascade"));

describe("a key that ends soon", () => {
  it.each([
    ["ends within 14 days and was used today", "expires_at = now() + interval '14 days'", usedToday, true],
    ["ends in a minute and was used 7 days ago", "expires_at = now() + interval '1 minute'", daysAgo(7), true],
    ["was used 8 days ago", "expires_at = now() + interval '1 minute'", daysAgo(8), false],
    ["was never used", "expires_at = now() + interval '1 minute'", "last_used_on = null", false],
    ["ends an hour later than in 14 days", "expires_at = now() + interval '14 days 1 hour'", usedToday, false],
    ["has expired", "expires_at = now()", usedToday, false],
    ["has no end", "expires_at = null", usedToday, false],
    ["ends at the time `infinity`", "expires_at = 'infinity'", usedToday, false],
  ])("is found if it is in use: it %s", async (_what, end, use, isFound) => {
    const { key, account } = await issueKey();
    await execute(`update api_keys set ${end}, ${use} where id = ${key.id}`);
    const expiresAt = (await keys.find(key.id))?.expiresAt;
    const found = isFound ? [{ id: key.id, accountName: account.name, expiresAt, total: 1 }] : [];
    expect(await database.run(selectEndingKeys, {})).toEqual(found);
  });

  it("is not found after its revocation, nor while its account is suspended", async () => {
    const [revoked, suspended] = [await issueEnding(1), await issueEnding(2)];
    await keys.revoke(revoked.key.id);
    await accounts.suspend(suspended.account.name);
    expect(await database.run(selectEndingKeys, {})).toEqual([]);
    await accounts.resume(suspended.account.name);
    expect(await database.run(selectEndingKeys, {})).toMatchObject([{ id: suspended.key.id }]);
  });

  it("is one of the 10 that end first, with the number of all", async () => {
    const issued = [];
    for (const hours of [12, 3, 2, 1, 4, 5, 6, 7, 8, 9, 10, 11]) issued.push({ hours, ...(await issueEnding(hours)) });
    const first = issued.sort((one, other) => one.hours - other.hours).slice(0, 10);
    const found = await database.run(selectEndingKeys, {});
    expect(found.map(({ id }) => id)).toEqual(first.map(({ key }) => key.id));
    expect(new Set(found.map(({ total }) => total))).toEqual(new Set([12]));
  });
});

describe("the count of the keys that end soon", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
  afterEach(() => void vi.useRealTimers());

  it("is made once a minute, and stays as it was while PostgreSQL is unavailable, which the log says once", async () => {
    const { log, logged } = recordLog();
    let isReachable = true;
    let runs = 0;
    const run: Database["run"] = async (statement, values) => {
      runs += 1;
      if (!isReachable) throw new Problem("SERVICE_UNAVAILABLE");
      return database.run(statement, values);
    };
    using ending = createEndingKeys({ run }, log);
    const passMinute = async (count: number) => {
      vi.advanceTimersByTime(60_000);
      await expect.poll(() => runs).toBe(count);
      // When this is answered, a failed attempt has ended.
      await database.run(selectEndingKeys, {});
    };
    await issueEnding(1);
    expect([ending.count(), runs]).toEqual([0, 0]);
    await passMinute(1);
    await expect.poll(() => ending.count()).toBe(1);
    isReachable = false;
    await passMinute(2);
    await passMinute(3);
    expect(ending.count()).toBe(1);
    expect(logged).toEqual([expect.stringMatching(/^could not count the keys that end soon/)]);
    isReachable = true;
    await execute("truncate accounts cascade");
    await passMinute(4);
    await expect.poll(() => ending.count()).toBe(0);
  });
});

function daysAgo(days: number): string {
  return `last_used_on = (now() at time zone 'UTC')::date - ${days}`;
}

/** A key that was used today and ends after these hours. */
async function issueEnding(hours: number) {
  const issued = await issueKey();
  await keys.expire(issued.key.id, { inMs: hours * 3_600_000 });
  await execute(`update api_keys set ${usedToday} where id = ${issued.key.id}`);
  return issued;
}
