import { describe, expect, it } from "vitest";
import type { Database } from "../../src/database/database.js";
import { type CountedAs, createUsageCounters } from "../../src/usage/usage-counters.js";
import { createUsageSweep } from "../../src/usage/usage-table.js";
import { recordLog, silentLog } from "../logs.js";
import { openStoredKeys } from "../stored-keys-fixture.js";

const { database, issueKey, execute, open } = await openStoredKeys();

const hourMs = 3_600_000;
const noonMs = Date.UTC(2027, 0, 1, 12);
const rest: CountedAs = { api: "rest" };
const graphql: CountedAs = { api: "graphql" };

const newKeyId = async () => (await issueKey()).key.id;

/** The rows of a key, as `hour api operation admitted refused`. */
async function rowsOf(keyId: bigint): Promise<unknown[]> {
  const rows = await execute<{ readonly row: string }>(
    `select concat_ws(' ', to_char(hour at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI'), api, nullif(operation, ''), admitted, refused)
     as row from usage_hours where key_id = ${keyId} order by hour, api, operation`,
  );
  return rows.map(({ row }) => row);
}

/** A database that can be unavailable, and can lose its reply. */
function unreliable() {
  const state = { isAvailable: true, losesReply: false, statements: 0 };
  const run: Database["run"] = async (statement, values) => {
    state.statements += 1;
    if (!state.isAvailable) throw new Error("unavailable");
    const rows = await database.run(statement, values);
    if (state.losesReply) throw new Error("the reply was lost");
    return rows;
  };
  return { state, run };
}

describe("the usage counters", () => {
  it("add the units and refusals of each key, hour, API and deprecated operation to one row", async () => {
    const keyId = await newKeyId();
    for (let instance = 0; instance < 2; instance += 1) {
      await using counters = createUsageCounters(database, silentLog);
      counters.addAdmitted({ keyId, countedAs: rest, atMs: noonMs - 1 }, 1);
      counters.addAdmitted({ keyId, countedAs: rest, atMs: noonMs }, 1);
      counters.addAdmitted({ keyId, countedAs: rest, atMs: noonMs + hourMs - 1 }, 1);
      counters.addAdmitted({ keyId, countedAs: rest, atMs: noonMs + hourMs }, 1);
      await counters.flush();
      counters.addAdmitted({ keyId, countedAs: graphql, atMs: noonMs }, 7);
      counters.addAdmitted({ keyId, countedAs: graphql, atMs: noonMs }, -2);
      counters.addRefused({ keyId, countedAs: graphql, atMs: noonMs });
      counters.addAdmitted({ keyId, countedAs: { ...rest, operation: "getPet" }, atMs: noonMs }, 1);
      await counters.flush();
      expect(counters.stats()).toEqual({ rowsWritten: 5, failedWrites: 0, dropped: 0 });
    }
    expect(await rowsOf(keyId)).toEqual([
      "2027-01-01T11:00 rest 2 0",
      "2027-01-01T12:00 graphql 10 2",
      "2027-01-01T12:00 rest 4 0",
      "2027-01-01T12:00 rest getPet 2 0",
      "2027-01-01T13:00 rest 2 0",
    ]);
  });

  it("send nothing to PostgreSQL if nothing was counted", async () => {
    const { state, run } = unreliable();
    await using counters = createUsageCounters({ run }, silentLog);
    await counters.flush();
    expect(state.statements).toBe(0);
  });

  it("write what was counted until the end when they are disposed, even during a write", async () => {
    const keyId = await newKeyId();
    const counters = createUsageCounters(database, silentLog);
    counters.addAdmitted({ keyId, countedAs: rest, atMs: noonMs }, 1);
    const writing = counters.flush();
    counters.addAdmitted({ keyId, countedAs: rest, atMs: noonMs }, 2);
    await counters[Symbol.asyncDispose]();
    await writing;
    expect(await rowsOf(keyId)).toEqual(["2027-01-01T12:00 rest 3 0"]);
  });

  it("stay in memory while PostgreSQL is unavailable, and are written once when it is back", async () => {
    const keyId = await newKeyId();
    const { state, run } = unreliable();
    const { log, logged } = recordLog();
    await using counters = createUsageCounters({ run }, log);
    state.isAvailable = false;
    for (let minute = 0; minute < 30; minute += 1) {
      counters.addAdmitted({ keyId, countedAs: rest, atMs: noonMs + minute * 60_000 }, 1);
      await counters.flush();
    }
    expect(await rowsOf(keyId)).toEqual([]);
    expect(logged).toEqual(["could not write the usage history; it is kept in memory and written later"]);
    state.isAvailable = true;
    await counters.flush();
    await counters.flush();
    expect(await rowsOf(keyId)).toEqual(["2027-01-01T12:00 rest 30 0"]);
    // The first write failed with one counter, and all later units had a second one.
    expect(counters.stats()).toEqual({ rowsWritten: 2, failedWrites: 30, dropped: 0 });
  });

  it("count once what PostgreSQL has stored without a reply", async () => {
    const keyId = await newKeyId();
    const { state, run } = unreliable();
    await using counters = createUsageCounters({ run }, silentLog);
    for (const losesReply of [true, true, false]) {
      state.losesReply = losesReply;
      counters.addAdmitted({ keyId, countedAs: rest, atMs: noonMs }, 1);
      await counters.flush();
    }
    expect(await rowsOf(keyId)).toEqual(["2027-01-01T12:00 rest 3 0"]);
  });

  it("take a bounded amount of memory: further keys and hours are dropped and counted, known ones go on", async () => {
    const keyId = await newKeyId();
    const { state, run } = unreliable();
    const { log, logged } = recordLog();
    await using counters = createUsageCounters({ run }, log);
    state.isAvailable = false;
    const at = (hour: number) => ({ keyId, countedAs: rest, atMs: hour * hourMs });
    const areCounted = Array.from({ length: 10_003 }, (_, hour) => counters.addAdmitted(at(hour), 2));
    expect(areCounted.indexOf(false)).toBe(10_000);
    counters.addRefused(at(10_000));
    expect(counters.addAdmitted(at(9_999), 1)).toBe(true);
    await counters.flush();
    expect(counters.stats().dropped).toBe(7);
    expect(logged.filter((line) => line.startsWith("too many"))).toHaveLength(1);
    // It is tried early, when half of the memory is used, and then at every regular write.
    expect(counters.stats().failedWrites).toBeLessThanOrEqual(2);
    state.isAvailable = true;
    await counters.flush();
    expect(
      await execute(`select count(*)::integer, sum(admitted)::integer from usage_hours where key_id = ${keyId}`),
    ).toEqual([{ count: 10_000, sum: 20_001 }]);
    expect(counters.addAdmitted(at(10_000), 1)).toBe(true);
  });

  it("are written early when there are many", async () => {
    const keyId = await newKeyId();
    await using counters = createUsageCounters(database, silentLog);
    for (let hour = 0; hour < 5_000; hour += 1) {
      counters.addAdmitted({ keyId, countedAs: rest, atMs: hour * hourMs }, 1);
    }
    await expect.poll(() => counters.stats().rowsWritten, { timeout: 9_000 }).toBe(5_000);
  });

  it("leave out keys that were deleted meanwhile, and write all others", async () => {
    const [deleted, kept] = [await newKeyId(), await newKeyId()];
    await using counters = createUsageCounters(database, silentLog);
    for (const keyId of [deleted, kept]) counters.addAdmitted({ keyId, countedAs: rest, atMs: noonMs }, 1);
    await execute(`delete from api_keys where id = ${deleted}`);
    await counters.flush();
    expect([await rowsOf(deleted), await rowsOf(kept)]).toEqual([[], ["2027-01-01T12:00 rest 1 0"]]);
  });

  it("of many instances add up, in whatever order each has counted", async () => {
    const keyIds = [await newKeyId(), await newKeyId(), await newKeyId()];
    await using pool = open({ poolSize: 8 });
    const rounds = 20;
    await Promise.all(
      Array.from({ length: 8 }, async (_, instance) => {
        await using counters = createUsageCounters(pool, silentLog);
        for (let round = 0; round < rounds; round += 1) {
          const ordered = instance % 2 === 0 ? keyIds : keyIds.toReversed();
          for (const keyId of ordered) counters.addAdmitted({ keyId, countedAs: rest, atMs: noonMs }, 1);
          await counters.flush();
        }
        expect(counters.stats().failedWrites).toBe(0);
      }),
    );
    for (const keyId of keyIds) expect(await rowsOf(keyId)).toEqual([`2027-01-01T12:00 rest ${8 * rounds} 0`]);
  });
});

it("hours and writers older than the retention are deleted, by several instances at the same time, and no others", async () => {
  const keyId = await newKeyId();
  await using pool = open();
  await execute(
    `delete from usage_writers; delete from usage_hours;
     insert into usage_hours (key_id, hour, api, operation, admitted, refused)
     select ${keyId}, now() - number * interval '1 hour', 'rest', '', 1, 0 from generate_series(1, 3000) number;
     insert into usage_writers (id, batch, written_at)
     select gen_random_uuid(), 1, now() - number * interval '1 hour' from generate_series(1, 3000) number`,
  );
  const instances = Array.from({ length: 4 }, () => createUsageSweep(pool, 1));
  await Promise.all(instances.map((sweep) => sweep()));
  const left = (table: string) => execute(`select count(*)::integer from ${table}`);
  expect(await left("usage_hours")).toEqual([{ count: 23 }]);
  expect(await left("usage_writers")).toEqual([{ count: 23 }]);
});
