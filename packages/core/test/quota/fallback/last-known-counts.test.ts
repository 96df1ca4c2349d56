import { describe, expect, it } from "vitest";
import { type BanPolicy, defaultBanPolicy } from "../../../src/quota/ban-policy.js";
import type { Decision } from "../../../src/quota/decision.js";
import { minuteMs } from "../../../src/quota/window.js";
import { noon, tomorrow } from "../caller.js";
import { admitted, grants, openInOutage, outcomes, shop } from "./last-known-counts-fixture.js";

const hourMs = 3_600_000;
const bannedUntilMs = noon + hourMs;
const banned: Decision = { ...admitted(60), outcome: "banned", bannedUntilMs, retryAtMs: bannedUntilMs };

describe("the last known counts while Redis is unavailable", () => {
  it.each([
    [1, 20],
    [2, 10],
    [3, 6],
    [40, 0],
  ])(
    "grant an account last known at 40 of 60 this instance's share of the rest: of %i instances, %i",
    (instances, granted) => {
      const { counts } = openInOutage({ known: 40, instances });
      expect(grants(counts)).toBe(granted);
    },
  );

  it("grant an unknown account, and a minute that begins in the outage, the share of the limit", () => {
    const { counts, clock } = openInOutage({ known: 40 });
    expect(grants(counts, { ...shop, account: "other" })).toBe(30);
    expect(grants(counts)).toBe(10);
    clock.nowMs = noon + minuteMs;
    expect(grants(counts)).toBe(30);
  });

  it("share the rest of the day like the rest of the minute", () => {
    const { counts, clock, outages } = openInOutage();
    counts.observe(shop, admitted(0, 990));
    outages.count = 2;
    expect(grants(counts)).toBe(5);
    clock.nowMs = noon + minuteMs;
    const refusedByDay = { outcome: "refused", by: "day", retryAtMs: tomorrow };
    expect(counts.decide(shop, false)).toMatchObject(refusedByDay);
    expect(counts.decide({ ...shop, cost: 31 }, false)).toMatchObject(refusedByDay);
    clock.nowMs = tomorrow;
    expect(grants(counts)).toBe(30);
  });

  it("share the rest of a plan that is lowered before the outage and raised in it", () => {
    const { counts } = openInOutage({ known: 40 });
    expect(grants(counts, { ...shop, limits: { perMinute: 20, perDay: 1_000 } })).toBe(0);
    expect(grants(counts)).toBe(10);
  });

  it("report the account's own limits, and as remaining the units that this instance still grants", async () => {
    const { counts } = openInOutage({ known: 40 });
    expect(await counts.usage(shop)).toMatchObject({
      minute: { limit: 60, used: 50 },
      day: { limit: 1_000, used: 520 },
    });
    expect(counts.decide(shop, false)).toMatchObject({ minute: { limit: 60, used: 51 }, day: { used: 521 } });
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

  it("keep a ban of Redis to its end, for its key alone", async () => {
    const { counts, clock, outages } = openInOutage();
    counts.observe(shop, { ...banned, minute: admitted(0).minute });
    outages.count = 2;
    expect(counts.decide(shop, false)).toMatchObject({ outcome: "banned", bannedUntilMs });
    expect(grants(counts), "to other keys").toBe(30);
    clock.nowMs = bannedUntilMs - 1;
    expect(counts.decide(shop, false)).toMatchObject({ outcome: "banned", bannedUntilMs });
    clock.nowMs = bannedUntilMs;
    expect(counts.decide(shop, false)).toMatchObject({ outcome: "admitted" });
  });

  it("do not renew a lifted ban in the next outage, also after a reply of a Redis whose clock is behind", async () => {
    const { counts, outages } = openInOutage();
    counts.observe(shop, banned);
    outages.count = 2;
    expect(counts.decide(shop, false)).toMatchObject({ outcome: "banned" });
    counts.observe(shop, { ...admitted(2), nowMs: noon - 1 });
    outages.count = 3;
    expect(counts.decide(shop, false)).toMatchObject({ outcome: "admitted" });
    counts.observe(shop, banned);
    await counts.liftBan({ account: "shop", key: "1", liftedAgoMs: 0 });
    outages.count = 4;
    expect(counts.decide(shop, false)).not.toMatchObject({ outcome: "banned" });
  });

  it("keep a ban of Redis that was seen after the last lift", async () => {
    const { counts, outages } = openInOutage();
    counts.observe(shop, banned);
    const lift = { account: "shop", key: "1", liftedAgoMs: 1 };
    await counts.liftBan(lift);
    outages.count = 2;
    expect(counts.decide(shop, false)).toMatchObject({ outcome: "banned" });
    await counts.liftBan(lift);
    expect(counts.decide(shop, false)).toMatchObject({ outcome: "banned" });
    await counts.liftBan({ ...lift, liftedAgoMs: 0 });
    expect(counts.decide(shop, false)).toMatchObject({ outcome: "refused" });
  });

  it("ban a key that ignores refusals, by the account's limit and not by the share", () => {
    const banPolicy: BanPolicy = { ...defaultBanPolicy, minimumStrikes: 1, strikesPerUnit: 1, graceMs: -1 };
    const { counts } = openInOutage({ banPolicy });
    const small = { ...shop, limits: { perMinute: 4, perDay: 100 } };
    // Its share is 2 units a minute, but it takes 4 strikes after the first refusal.
    const expected = [...Array(2).fill("admitted"), ...Array(4).fill("refused"), "banned"];
    expect(outcomes(counts, 7, small)).toEqual(expected);
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

  // random/outages.test.ts tests the bound of uneven load.
  it("grant one unit of a limit below the number of instances", () => {
    const { counts } = openInOutage({ instances: 4 });
    expect(grants(counts, { ...shop, limits: { perMinute: 3, perDay: 1_000 } })).toBe(1);
  });
});
