import { expect, it } from "vitest";
import { createAccountUsage } from "../../src/usage/account-usage.js";
import { recordStatements } from "../database-fixture.js";
import { newKey, openStoredKeys } from "../stored-keys-fixture.js";

const { database, keys, issueKey, execute } = await openStoredKeys();

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const nowMs = Date.UTC(2027, 0, 31, 14, 59, 59, 999);
const hourNow = Date.UTC(2027, 0, 31, 14);
const today = Date.UTC(2027, 0, 31);

interface Row {
  readonly keyId: bigint;
  readonly atMs: number;
  readonly api?: string;
  readonly operation?: string;
  readonly admitted: number;
  readonly refused?: number;
}

async function store(...rows: readonly Row[]): Promise<void> {
  for (const { keyId, atMs, api = "rest", operation = "", admitted, refused = 0 } of rows) {
    await execute(
      `insert into usage_hours (key_id, hour, api, operation, admitted, refused)
       values (${keyId}, '${new Date(atMs).toISOString()}', '${api}', '${operation}', ${admitted}, ${refused})`,
    );
  }
}

const read = (accountId: bigint, atMs = nowMs) => createAccountUsage(database, () => 0)(accountId, atMs);
/** The numbers that are not 0, by their index. */
const filled = (counts: readonly number[]) =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));

it("the history of an account has the last 48 hours and 90 days, the present ones included", async () => {
  const { account, key } = await issueKey();
  await store(
    { keyId: key.id, atMs: hourNow, admitted: 1 },
    { keyId: key.id, atMs: hourNow - 47 * hourMs, admitted: 2, refused: 3 },
    { keyId: key.id, atMs: hourNow - 48 * hourMs, admitted: 4 },
    { keyId: key.id, atMs: today - 89 * dayMs, admitted: 8 },
    { keyId: key.id, atMs: today - 89 * dayMs - hourMs, admitted: 16 },
    { keyId: key.id, atMs: hourNow + hourMs, admitted: 32 },
  );
  const { hoursMs, daysMs, series } = await read(account.id);
  expect([hoursMs.length, hoursMs[0], hoursMs[47]]).toEqual([48, hourNow - 47 * hourMs, hourNow]);
  expect([daysMs.length, daysMs[0], daysMs[89]]).toEqual([90, today - 89 * dayMs, today]);
  expect(series).toHaveLength(1);
  expect(filled(series[0]?.hours.admitted ?? [])).toEqual({ 0: 2, 47: 1 });
  expect(filled(series[0]?.hours.refused ?? [])).toEqual({ 0: 3 });
  // 47 hours ago is 2 days ago at 15:00, and so is the hour before.
  expect(filled(series[0]?.days.admitted ?? [])).toEqual({ 0: 8, 87: 6, 89: 1 });
  expect(filled(series[0]?.days.refused ?? [])).toEqual({ 87: 3 });
});

it("the history has a series for each API of each key, with deprecated operations in that of their API", async () => {
  const { account, key } = await issueKey({ name: "website" });
  const other = await keys.add({ accountId: account.id, ...newKey() });
  await store(
    { keyId: key.id, atMs: hourNow, admitted: 1 },
    { keyId: key.id, atMs: hourNow, operation: "getPet", admitted: 2 },
    { keyId: key.id, atMs: hourNow, api: "graphql", admitted: 4 },
    { keyId: other.id, atMs: hourNow, admitted: 9 },
  );
  const { series } = await read(account.id);
  expect(series.map(({ key: of, api, hours }) => [of?.id, of?.name, api, hours.admitted[47]])).toEqual([
    [other.id, undefined, "rest", 9],
    [key.id, "website", "rest", 3],
    [key.id, "website", "graphql", 4],
  ]);
  expect(series[1]?.key?.prefix).toBe(key.prefix);
});

it("the history of an account has nothing of other accounts, and nothing if no key was used", async () => {
  const [one, other] = [await issueKey(), await issueKey()];
  await store({ keyId: one.key.id, atMs: hourNow, admitted: 1 });
  expect((await read(other.account.id)).series).toEqual([]);
  expect((await read(one.account.id)).series.map(({ key }) => key?.id)).toEqual([one.key.id]);
});

it("the history sums the keys beyond the 20 with the highest counts", async () => {
  const { account, key } = await issueKey();
  await store({ keyId: key.id, atMs: hourNow, admitted: 1 });
  for (let count = 2; count <= 23; count += 1) {
    const added = await keys.add({ accountId: account.id, ...newKey() });
    await store({ keyId: added.id, atMs: hourNow, admitted: count });
  }
  const { series } = await read(account.id);
  const sums = series.map(({ key: of, hours }) => [of === undefined ? "others" : "key", hours.admitted[47]]);
  expect(sums).toHaveLength(21);
  expect(sums[0]).toEqual(["key", 23]);
  expect(sums[19]).toEqual(["key", 4]);
  expect(sums[20]).toEqual(["others", 1 + 2 + 3]);
});

it("the history of an account is read at most once in 5 s, whichever keys ask", async () => {
  const { account } = await issueKey();
  const { account: other } = await issueKey();
  const { run, ran } = recordStatements(database);
  let atMs = 1_000;
  const history = createAccountUsage({ run }, () => atMs);
  await Promise.all([history(account.id, nowMs), history(account.id, nowMs)]);
  atMs += 4_999;
  await history(account.id, nowMs);
  expect(ran).toHaveLength(1);
  await history(other.id, nowMs);
  expect(ran).toHaveLength(2);
  atMs += 2;
  await history(account.id, nowMs);
  expect(ran).toHaveLength(3);
});

it("a history that could not be read is read again by the next request", async () => {
  const { account } = await issueKey();
  let isAvailable = false;
  const run: typeof database.run = async (statement, values) => {
    if (!isAvailable) throw new Error("unavailable");
    return database.run(statement, values);
  };
  const history = createAccountUsage({ run }, () => 0);
  await expect(history(account.id, nowMs)).rejects.toThrow("unavailable");
  isAvailable = true;
  expect((await history(account.id, nowMs)).series).toEqual([]);
});
