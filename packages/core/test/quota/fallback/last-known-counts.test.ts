import { describe, expect, it } from "vitest";
import { defaultBanPolicy } from "../../../src/quota/ban-policy.js";
import type { Admitted, Decision } from "../../../src/quota/decision.js";
import { createLastKnownCounts, type LastKnownCounts } from "../../../src/quota/engines/fallback/last-known-counts.js";
import type { DrawLot } from "../../../src/quota/engines/fallback/share.js";
import type { Reservation } from "../../../src/quota/quota.js";
import { minuteMs } from "../../../src/quota/window.js";
import { noon, openAtVirtualTime, tomorrow } from "../caller.js";
import { describeQuota } from "../describe-quota.js";

const shop: Reservation = { account: "shop", key: "1", limits: { perMinute: 60, perDay: 1_000 }, cost: 1 };
const bannedUntilMs = noon + 10 * minuteMs;
const banned: Decision = {
  ...admitted(0),
  outcome: "banned",
  bannedUntilMs,
  beginsBan: false,
  retryAtMs: bannedUntilMs,
};

describeQuota("fallback", (banPolicy) =>
  openAtVirtualTime(({ now }) => {
    const outage = { beganMs: now() };
    const counts = createLastKnownCounts({
      now,
      banPolicy,
      instances: 1,
      drawLot: () => 0,
      lastOutageOf: () => outage,
    });
    return {
      ...counts,
      reserve: async (reservation) => counts.decide(reservation),
      extend: async ({ receipt, ...reservation }) => counts.decide(reservation, receipt),
    };
  }),
);

// random/outages.test.ts tests the bounds of several instances, and that Redis counts each unit once.
describe("the last known counts while Redis is unavailable", () => {
  it.each([
    [1, admitted(40), 20],
    [2, admitted(40), 10],
    [3, admitted(40), 6],
    [40, admitted(40), 0],
    [2, admitted(0, 990), 5],
  ])("grant each of %i instances its share of what was left of the minute and the day", (instances, known, granted) => {
    const { counts } = openInOutage({ known, instances });
    expect(grants(counts)).toBe(granted);
  });

  it("grant an unknown account, and a minute that begins in the outage, the share of the limit", () => {
    const { counts, clock } = openInOutage({ known: admitted(40) });
    expect(grants(counts, { ...shop, account: "other" })).toBe(30);
    expect(grants(counts, { ...shop, account: "odd", limits: { perMinute: 5, perDay: 1_000 } })).toBe(2);
    clock.nowMs = noon + minuteMs;
    expect(grants(counts)).toBe(30);
  });

  it("grant a unit in the windows that the lot chooses, if the share of a limit is less than one", () => {
    const lots = new Map([
      [noon, 0.2],
      [noon + minuteMs, 0.3],
      [noon + 2 * minuteMs, 0],
    ]);
    const drawLot = (_account: string, startMs: number) => lots.get(startMs) ?? 1;
    const { counts, clock } = openInOutage({ instances: 4, drawLot });
    const small = { ...shop, limits: { perMinute: 1, perDay: 1_000 } };
    const granted = [...lots.keys()].map((startMs) => {
      clock.nowMs = startMs;
      return grants(counts, small);
    });
    expect(granted).toEqual([1, 0, 1]);
  });

  it("refuse until the next minute if the lot chooses no unit", () => {
    const { counts } = openInOutage({ instances: 4, drawLot: () => 0.3 });
    const refused = { outcome: "refused", by: "minute", retryAtMs: noon + minuteMs, minute: { limit: 1, used: 1 } };
    expect(counts.decide({ ...shop, limits: { perMinute: 1, perDay: 1_000 } })).toMatchObject(refused);
  });

  it.each([
    ["in the minute before the outage", noon + minuteMs, [40, 40]],
    ["in an earlier minute", noon + 2 * minuteMs, [15, 15]],
    ["in the minute of the outage", noon + minuteMs - 1, [5, 15]],
  ])("grant the units that Redis granted to this instance %s, if they are more", (_when, beganMs, granted) => {
    const { counts, clock } = openServing({ units: 40, instances: 4 });
    clock.nowMs = beganMs;
    counts.beginOutage();
    const first = grants(counts);
    clock.nowMs = noon + 5 * minuteMs;
    expect([first, grants(counts)]).toEqual(granted);
  });

  it("grant own units / limit of what is left of the minute, so a steady client is served as before", () => {
    const { counts, clock } = openServing({ units: 48, instances: 4 });
    clock.nowMs = noon + minuteMs + 30_000;
    observeUnits(counts, { used: 20, units: 20, startMs: noon + minuteMs });
    counts.beginOutage();
    expect(grants(counts)).toBe(Math.floor((40 * 48) / 60));
  });

  it("grant own units / limit of what is left of the day, of the units of this day", () => {
    const { counts, clock } = openServing({ units: 60, instances: 100 });
    counts.observe(shop, admitted(60, 400));
    clock.nowMs = noon + minuteMs;
    counts.beginOutage();
    expect(counts.decide({ ...shop, cost: 2 })).toMatchObject({ outcome: "admitted", day: { limit: 1_000 } });
    // 600 are left, and 61 of 1,000 are own units.
    const granted = [2, 3, 4].map((minute) => {
      clock.nowMs = noon + minute * minuteMs;
      return grants(counts);
    });
    expect(granted.reduce((sum, units) => sum + units, 2)).toBe(Math.floor((600 * 61) / 1_000));
    clock.nowMs = tomorrow;
    expect(grants(counts)).toBe(60);
  });

  it("take the units of an extension as own, and its held unit once", () => {
    const { counts, clock } = openInOutage({ instances: 60 });
    const receipt = admitted(1);
    counts.observe(shop, receipt);
    counts.observe({ ...shop, cost: 10 }, admitted(10), receipt);
    counts.observe(shop, { ...admitted(10), outcome: "refused", by: "minute", retryAtMs: noon + minuteMs });
    clock.nowMs = noon + minuteMs;
    counts.beginOutage();
    expect(grants(counts)).toBe(10);
  });

  it("report the account's own limits, and as remaining the units that this instance still grants", async () => {
    const { counts } = openInOutage({ known: admitted(40) });
    const windows = { minute: { limit: 60, used: 50 }, day: { limit: 1_000, used: 520 } };
    expect(await counts.usage(shop)).toMatchObject(windows);
  });

  it("refuse a cost above the share, and call a cost above the limit impossible", () => {
    const { counts } = openInOutage({});
    const refused = { outcome: "refused", by: "minute", retryAtMs: noon + minuteMs, minute: { limit: 60, used: 30 } };
    expect(counts.decide({ ...shop, cost: 31 })).toMatchObject(refused);
    expect(counts.decide({ ...shop, cost: 61 })).toMatchObject({ outcome: "impossible" });
    expect(counts.decide({ ...shop, cost: 30 })).toMatchObject({ outcome: "admitted" });
  });

  it("keep a ban of Redis to its end, for its key alone", () => {
    const { counts, clock } = openInOutage({ known: banned });
    expect(grants(counts), "to other keys").toBe(30);
    clock.nowMs = bannedUntilMs - 1;
    expect(counts.decide(shop)).toMatchObject({ outcome: "banned", bannedUntilMs });
    clock.nowMs = bannedUntilMs;
    expect(counts.decide(shop)).toMatchObject({ outcome: "admitted" });
  });

  it("take the end of a ban from Redis, also if it is earlier than the one they know", () => {
    const { counts } = openInOutage({ known: banned });
    counts.observe(shop, { ...banned, bannedUntilMs: noon + minuteMs });
    counts.beginOutage();
    expect(counts.decide(shop)).toMatchObject({ outcome: "banned", bannedUntilMs: noon + minuteMs });
  });

  it.each<[lifted: string, lift: (counts: LastKnownCounts) => unknown]>([
    ["here", (counts) => counts.liftBan({ account: "shop", key: "1", liftedAgoMs: 0 })],
    ["by another process", (counts) => counts.observe(shop, admitted(2))],
    ["before the clock of Redis stepped back", (counts) => counts.observe(shop, { ...admitted(2), nowMs: noon - 1 })],
  ])("do not renew a ban that was lifted %s", async (_lifted, lift) => {
    const { counts } = openInOutage({ known: banned });
    await counts.liftBan({ account: "shop", key: "1", liftedAgoMs: 1 });
    expect(counts.decide(shop), "the ban began after that lift").toMatchObject({ outcome: "banned" });
    await lift(counts);
    counts.beginOutage();
    expect(counts.decide(shop)).toMatchObject({ outcome: "admitted" });
  });

  it("ban a key that ignores refusals, by the account's limit and not by the share, until Redis decides again", () => {
    const banPolicy = { ...defaultBanPolicy, minimumStrikes: 1, strikesPerUnit: 1, graceMs: -1 };
    const { counts } = openInOutage({ banPolicy });
    const small = { ...shop, limits: { perMinute: 4, perDay: 100 } };
    // Its share is 2 units a minute, but it takes 4 strikes after the first refusal.
    const outcomes = Array.from({ length: 7 }, () => counts.decide(small).outcome);
    expect(outcomes).toEqual([...Array(2).fill("admitted"), ...Array(4).fill("refused"), "banned"]);
    counts.observe(small, admitted(0));
    counts.beginOutage();
    expect(counts.decide(small).outcome).toBe("refused");
  });

  it("keep the windows of the clock of Redis when the clock of this machine is an hour ahead", () => {
    const { counts, clock } = openInOutage({ known: admitted(40), startMs: noon + 60 * minuteMs });
    expect(grants(counts)).toBe(10);
    clock.nowMs += minuteMs - 1;
    expect(counts.decide(shop)).toMatchObject({ outcome: "refused", retryAtMs: noon + minuteMs });
    clock.nowMs += 1;
    expect(counts.decide(shop)).toMatchObject({ outcome: "admitted", nowMs: noon + minuteMs });
  });

  it("forget the account that was idle longest beyond 100,000 accounts, so memory stays bounded", () => {
    const { counts } = openInOutage({ known: admitted(60) });
    for (let other = 0; other < 100_000; other += 1) counts.observe({ ...shop, account: `${other}` }, admitted(60));
    expect(grants(counts, { ...shop, account: "0" })).toBe(0);
    expect(grants(counts)).toBe(30);
  });

  it("are not reported to Redis without an outage: other instances may have refunded units since", () => {
    const { counts } = openInOutage({});
    counts.observe(shop, admitted(40));
    expect(counts.takeReport("shop")).toBeUndefined();
  });

  it.each([
    ["that were granted, once", () => {}, [40, 1]],
    ["as known, if they were in a report without a reply", loseReport, [41, 0]],
    ["again, if the reply to their report was an error", refuseReport, [40, 1]],
  ] as const)("report units %s", (_when, earlierReport, [knownUsed, owedUnits]) => {
    const { counts } = openInOutage({ known: admitted(40) });
    localUnit(counts);
    earlierReport(counts);
    expect(reportedMinute(counts)).toEqual({ knownUsed, owedUnits });
    expect(counts.takeReport("shop")).toBeUndefined();
  });

  it.each([
    ["reports", "decide"],
    ["requests", "decideUnanswered"],
  ] as const)("grant the share once in a window, although %s get no reply", (_what, decide) => {
    const { counts } = openInOutage({ known: admitted(20), instances: 4 });
    let granted = 0;
    for (let outage = 0; outage < 5; outage += 1) {
      granted += grants({ decide: counts[decide] });
      counts.takeReport("shop");
      counts.beginOutage();
    }
    expect(granted).toBe(10);
    counts.observe(shop, admitted(40));
    counts.beginOutage();
    expect(grants(counts), "after a reply of Redis").toBe(5);
  });

  it("take no refunded unit off a later minute", async () => {
    const { counts, clock } = openInOutage({});
    const receipt = localUnit(counts);
    clock.nowMs = noon + minuteMs;
    localUnit(counts);
    await counts.refund({ ...shop, receipt });
    expect(reportedMinute(counts)).toEqual({ knownUsed: 0, owedUnits: 1 });
  });
});

describe("an extension while Redis is unavailable", () => {
  const redisUnit = () => admitted(40);
  it.each([
    ["is refused above this instance's share, without a change", "decide", redisUnit, 12, "refused", [40, 0]],
    ["counts as known to Redis if Redis may have executed it", "decideUnanswered", redisUnit, 4, "admitted", [43, 0]],
    ["keeps a unit that was granted without Redis when it is refused", "decide", localUnit, 50, "refused", [40, 1]],
    ["keeps it too if Redis may have executed the extension", "decideUnanswered", localUnit, 50, "refused", [40, 1]],
    ["keeps it when it is impossible", "decide", localUnit, 61, "impossible", [40, 1]],
  ] as const)("%s", (_promise, decide, held, cost, outcome, [knownUsed, owedUnits]) => {
    const { counts } = openInOutage({ known: admitted(40) });
    expect(counts[decide]({ ...shop, cost }, held(counts))).toMatchObject({ outcome });
    expect(reportedMinute(counts)).toEqual({ knownUsed, owedUnits });
  });

  it("charges a later minute, or an account that was forgotten, all of its units", () => {
    const { counts, clock } = openInOutage({ known: admitted(40) });
    const receipt = localUnit(counts);
    clock.nowMs = noon + minuteMs;
    localUnit(counts);
    counts.decide({ ...shop, cost: 5 }, receipt);
    expect(reportedMinute(counts)).toEqual({ knownUsed: 0, owedUnits: 6 });

    const { counts: forgotten } = openInOutage({});
    forgotten.decide({ ...shop, cost: 5 }, redisUnit());
    expect(reportedMinute(forgotten)).toEqual({ knownUsed: 0, owedUnits: 5 });
  });
});

interface Given {
  /** The decision that Redis made before the outage. */
  readonly known?: Decision;
  readonly instances?: number;
  readonly banPolicy?: typeof defaultBanPolicy;
  readonly startMs?: number;
  readonly drawLot?: DrawLot;
}

interface CountsInOutages extends LastKnownCounts {
  /** Begins an outage of every account. */
  beginOutage(): void;
}

/** The counts of one instance in its first outage. The test sets its clock. */
function openInOutage(given: Given) {
  const { known, instances = 2, banPolicy = defaultBanPolicy, startMs = noon, drawLot = () => 0 } = given;
  const clock = { nowMs: startMs };
  let outage = { beganMs: 0 };
  const now = () => clock.nowMs;
  const counts: CountsInOutages = {
    ...createLastKnownCounts({ now, banPolicy, instances, drawLot, lastOutageOf: () => outage }),
    beginOutage() {
      outage = { beganMs: now() };
    },
  };
  if (known !== undefined) counts.observe(shop, known);
  counts.beginOutage();
  return { counts, clock };
}

/** The counts of one instance to which Redis has granted these units at noon, and no other instance any. */
function openServing({ units, instances }: { readonly units: number; readonly instances: number }) {
  const opened = openInOutage({ instances });
  observeUnits(opened.counts, { used: units, units, startMs: noon });
  return opened;
}

/** Redis grants single units in the minute that starts then. In the end it counts `used` units of the minute. */
function observeUnits(
  counts: LastKnownCounts,
  { used, units, startMs }: { readonly used: number; readonly units: number; readonly startMs: number },
): void {
  for (let unit = used - units + 1; unit <= used; unit += 1) {
    const decision = admitted(unit);
    counts.observe(shop, {
      ...decision,
      nowMs: startMs,
      minute: { ...decision.minute, resetAtMs: startMs + minuteMs },
    });
  }
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
  return counts.decide(shop) as Admitted;
}

/** The units that are granted to more requests than any limit. Each request has a key of its own, so none is banned. */
function grants(counts: Pick<LastKnownCounts, "decide">, reservation = shop): number {
  const keys = Array.from({ length: 150 }, (_, index) => `key ${index}`);
  const decided = keys.map((key) => counts.decide({ ...reservation, key }).outcome);
  return decided.filter((outcome) => outcome === "admitted").length;
}

function loseReport(counts: CountsInOutages): void {
  counts.takeReport("shop");
  counts.beginOutage();
}

function refuseReport(counts: CountsInOutages): void {
  const report = counts.takeReport("shop");
  counts.beginOutage();
  if (report !== undefined) counts.oweAgain("shop", report);
}

/** What the next call about the account would report of the minute. */
function reportedMinute(counts: LastKnownCounts) {
  const { knownUsed, owedUnits } = counts.takeReport("shop")?.minute ?? {};
  return { knownUsed, owedUnits };
}
