import { describe, expect, it } from "vitest";
import { type BanPolicy, defaultBanPolicy } from "../../../src/quota/ban-policy.js";
import type { Admitted, Decision } from "../../../src/quota/decision.js";
import { createLastKnownCounts, type LastKnownCounts } from "../../../src/quota/engines/fallback/last-known-counts.js";
import type { Reservation } from "../../../src/quota/quota.js";
import { minuteMs } from "../../../src/quota/window.js";
import { noon, tomorrow } from "../caller.js";

const hourMs = 3_600_000;
const shop: Reservation = { account: "shop", key: "1", limits: { perMinute: 60, perDay: 1_000 }, cost: 1 };
const bannedUntilMs = noon + hourMs;
const banned: Decision = { ...admitted(0), outcome: "banned", bannedUntilMs, retryAtMs: bannedUntilMs };

// random/outages.test.ts tests the bounds of several instances, and that Redis counts each unit once.
describe("the last known counts while Redis is unavailable", () => {
  it.each([
    [1, 20],
    [2, 10],
    [3, 6],
    [40, 0],
  ])("grant an account at 40 of 60 this instance's share of the rest: of %i instances, %i", (instances, granted) => {
    const { counts } = openInOutage({ known: 40, instances });
    expect(grants(counts)).toBe(granted);
  });

  it("grant an unknown account, and a minute that begins in the outage, the share of the limit, but one at least", () => {
    const { counts, clock } = openInOutage({ known: 40 });
    expect(grants(counts, { ...shop, account: "other" })).toBe(30);
    expect(grants(counts, { ...shop, account: "small", limits: { perMinute: 1, perDay: 1_000 } })).toBe(1);
    clock.nowMs = noon + minuteMs;
    expect(grants(counts)).toBe(30);
  });

  it("share the rest of the day like the rest of the minute", () => {
    const { counts, clock, outages } = openInOutage();
    counts.observe(shop, admitted(0, 990));
    outages.count = 2;
    expect(grants(counts)).toBe(5);
    clock.nowMs = noon + minuteMs;
    expect(counts.decide(shop, false)).toMatchObject({ outcome: "refused", by: "day", retryAtMs: tomorrow });
  });

  it("report the account's own limits, and as remaining the units that this instance still grants", async () => {
    const { counts } = openInOutage({ known: 40 });
    const windows = { minute: { limit: 60, used: 50 }, day: { limit: 1_000, used: 520 } };
    expect(await counts.usage(shop)).toMatchObject(windows);
    grants(counts);
    expect(counts.decide(shop, false)).toMatchObject({ outcome: "refused", minute: { limit: 60, used: 60 } });
  });

  it("refuse a cost above the share, and call a cost above the limit impossible", () => {
    const { counts } = openInOutage();
    const refused = { outcome: "refused", by: "minute", retryAtMs: noon + minuteMs, minute: { limit: 60, used: 30 } };
    expect(counts.decide({ ...shop, cost: 31 }, false)).toMatchObject(refused);
    expect(counts.decide({ ...shop, cost: 60 }, false)).toMatchObject(refused);
    expect(counts.decide({ ...shop, cost: 61 }, false)).toMatchObject({ outcome: "impossible" });
    expect(counts.decide({ ...shop, cost: 30 }, false)).toMatchObject({ outcome: "admitted" });
  });

  it("keep a ban of Redis to its end, for its key alone", () => {
    const { counts, clock, outages } = openInOutage();
    counts.observe(shop, banned);
    outages.count = 2;
    expect(grants(counts), "to other keys").toBe(30);
    clock.nowMs = bannedUntilMs - 1;
    expect(counts.decide(shop, false)).toMatchObject({ outcome: "banned", bannedUntilMs });
    clock.nowMs = bannedUntilMs;
    expect(counts.decide(shop, false)).toMatchObject({ outcome: "admitted" });
  });

  it("do not renew a lifted ban, also if another process lifted it and the clock of Redis stepped back", async () => {
    const { counts, outages } = openInOutage();
    for (const end of [
      () => counts.observe(shop, { ...admitted(2), nowMs: noon - 1 }),
      () => counts.liftBan({ account: "shop", key: "1", liftedAgoMs: 0 }),
    ]) {
      counts.observe(shop, banned);
      outages.count += 1;
      await counts.liftBan({ account: "shop", key: "1", liftedAgoMs: 1 });
      expect(counts.decide(shop, false), "banned after that lift").toMatchObject({ outcome: "banned" });
      await end();
      outages.count += 1;
      expect(counts.decide(shop, false)).toMatchObject({ outcome: "admitted" });
    }
  });

  it("ban a key that ignores refusals, by the account's limit and not by the share", () => {
    const banPolicy: BanPolicy = { ...defaultBanPolicy, minimumStrikes: 1, strikesPerUnit: 1, graceMs: -1 };
    const { counts } = openInOutage({ banPolicy });
    const small = { ...shop, limits: { perMinute: 4, perDay: 100 } };
    // Its share is 2 units a minute, but it takes 4 strikes after the first refusal.
    const outcomes = Array.from({ length: 7 }, () => counts.decide(small, false).outcome);
    expect(outcomes).toEqual([...Array(2).fill("admitted"), ...Array(4).fill("refused"), "banned"]);
  });

  it("keep the windows of the clock of Redis when the clock of this machine is an hour off", () => {
    const { counts, clock, outages } = openInOutage();
    clock.nowMs = noon + hourMs;
    counts.observe(shop, admitted(40));
    outages.count = 2;
    expect(grants(counts)).toBe(10);
    clock.nowMs += minuteMs - 1;
    expect(counts.decide(shop, false)).toMatchObject({ outcome: "refused", retryAtMs: noon + minuteMs });
    clock.nowMs += 1;
    expect(counts.decide(shop, false)).toMatchObject({ outcome: "admitted", nowMs: noon + minuteMs });
  });

  it("forget the account that was idle longest beyond their capacity, so memory stays bounded", () => {
    const { counts, outages } = openInOutage({ capacity: 2 });
    for (const account of ["one", "two", "three"]) counts.observe({ ...shop, account }, admitted(60));
    outages.count = 2;
    expect(grants(counts, { ...shop, account: "three" })).toBe(0);
    expect(grants(counts, { ...shop, account: "one" })).toBe(30);
  });

  it("are not told to Redis without an outage: other instances may have refunded units since", () => {
    const { counts } = openInOutage();
    counts.observe(shop, admitted(40));
    expect(counts.drainUnsynced("shop")).toBeUndefined();
  });

  it("take no refunded unit off a later minute", async () => {
    const { counts, clock } = openInOutage();
    const heldIn = localUnit(counts);
    clock.nowMs = noon + minuteMs;
    localUnit(counts);
    await counts.refund({ ...shop, heldIn });
    expect(toldToRedis(counts)).toBe("0+1");
  });
});

describe("an extension while Redis is unavailable", () => {
  const redisUnit = () => admitted(40);
  it.each<[string, held: (counts: LastKnownCounts) => Admitted, boolean, cost: number, outcome: string, told: string]>([
    ["is refused above this instance's share, without a change", redisUnit, false, 12, "refused", "40+0"],
    ["counts as known to Redis if Redis may have executed it", redisUnit, true, 4, "admitted", "43+0"],
    ["gives a unit back that was granted without Redis", localUnit, false, 50, "refused", "40+0"],
    ["does not give it back if Redis may have", localUnit, true, 50, "refused", "40+1"],
  ])("%s", (_promise, held, mayHaveExecuted, cost, outcome, told) => {
    const { counts } = openInOutage({ known: 40 });
    expect(counts.decide({ ...shop, cost }, mayHaveExecuted, held(counts))).toMatchObject({ outcome });
    expect(toldToRedis(counts)).toBe(told);
  });

  it("charges a later minute, or an account that was forgotten, all of its units", () => {
    const { counts, clock } = openInOutage({ known: 40 });
    const heldIn = localUnit(counts);
    clock.nowMs = noon + minuteMs;
    counts.decide({ ...shop, cost: 5 }, false, heldIn);
    expect(toldToRedis(counts)).toBe("0+5");

    const { counts: forgotten } = openInOutage();
    forgotten.decide({ ...shop, cost: 5 }, false, redisUnit());
    expect(toldToRedis(forgotten)).toBe("0+5");
  });
});

/**
 * The counts of one instance in its first outage. The test sets its clock and the number of outages. Before the outage, at
 * noon, Redis reported that the account `shop` had used `known` units.
 */
function openInOutage({ known = 0, instances = 2, banPolicy = defaultBanPolicy, capacity = 100 } = {}) {
  const clock = { nowMs: noon };
  const outages = { count: 0 };
  const options = { now: () => clock.nowMs, banPolicy, instances, capacity };
  const counts = createLastKnownCounts({ ...options, currentOutage: () => outages.count });
  if (known > 0) counts.observe(shop, admitted(known));
  outages.count = 1;
  return { counts, clock, outages };
}

/** An admission by Redis at noon. */
function admitted(minuteUsed: number, dayUsed = minuteUsed): Admitted {
  return {
    outcome: "admitted",
    mode: "shared",
    nowMs: noon,
    minute: { limit: 60, used: minuteUsed, resetAtMs: noon + minuteMs },
    day: { limit: 1_000, used: dayUsed, resetAtMs: tomorrow },
  };
}

function localUnit(counts: LastKnownCounts): Admitted {
  return counts.decide(shop, false) as Admitted;
}

/** The units that are granted to more requests than any limit. Each request has a key of its own, so none is banned. */
function grants(counts: LastKnownCounts, reservation = shop): number {
  const keys = Array.from({ length: 150 }, (_, index) => `key ${index}`);
  const decided = keys.map((key) => counts.decide({ ...reservation, key }, false).outcome);
  return decided.filter((outcome) => outcome === "admitted").length;
}

/** The last known and the unsynced units of the minute. They are told once after an outage. */
function toldToRedis(counts: LastKnownCounts): string {
  const told = counts.drainUnsynced("shop");
  expect(counts.drainUnsynced("shop")).toBeUndefined();
  return `${told?.minute.lastKnownUsed}+${told?.minute.unsyncedUnits}`;
}
