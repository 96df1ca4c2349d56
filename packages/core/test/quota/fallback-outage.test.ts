import { describe, expect, it } from "vitest";
import { type BanPolicy, defaultBanPolicy } from "../../src/quota/ban-policy.js";
import type { Decision } from "../../src/quota/decision.js";
import type { Fallback } from "../../src/quota/engines/fallback/last-known-counts.js";
import { dayMs, minuteMs } from "../../src/quota/window.js";
import { admitted, midnight, noon, openFallback, outcomes, shop } from "./fallback-fixture.js";

const hourMs = 3_600_000;

describe("the stand-in while Redis is away", () => {
  it.each([
    [1, 20],
    [2, 10],
    [3, 6],
    [40, 0],
  ])(
    "an account last seen at 40 of 60 gets its share of the rest: with %i instances, %i",
    async (instances, granted) => {
      const { fallback, outages } = openFallback({ instances });
      fallback.observe(shop, admitted(40));
      outages.count = 1;
      expect(await grants(fallback)).toBe(granted);
    },
  );

  it("an account never seen gets the share of the limit, and so does a minute that begins in the outage", async () => {
    const { fallback, clock, outages } = openFallback();
    fallback.observe(shop, admitted(40));
    outages.count = 1;
    expect(await grants(fallback, { ...shop, account: "stranger" })).toBe(30);
    expect(await grants(fallback)).toBe(10);
    clock.nowMs = noon + minuteMs;
    expect(await grants(fallback)).toBe(30);
    expect(await grants(fallback, { ...shop, account: "stranger" })).toBe(30);
  });

  it("the day's rest is shared like the minute's", async () => {
    const { fallback, clock, outages } = openFallback();
    fallback.observe(shop, admitted(0, 990));
    outages.count = 1;
    expect(await grants(fallback)).toBe(5);
    clock.nowMs = noon + minuteMs;
    expect(await fallback.reserve(shop, false)).toMatchObject({ outcome: "refused", by: "day" });
    clock.nowMs = midnight + dayMs;
    expect(await grants(fallback)).toBe(30);
  });

  it("a limit smaller than the number of instances still lets one request through", async () => {
    const { fallback, outages } = openFallback({ instances: 5 });
    outages.count = 1;
    expect(await grants(fallback, { ...shop, limits: { perMinute: 2, perDay: 100 } })).toBe(1);
  });

  it("reports the account's own limits, and as remaining what is still granted here", async () => {
    const { fallback, outages } = openFallback();
    fallback.observe(shop, admitted(40));
    outages.count = 1;
    expect(await fallback.usage(shop)).toMatchObject({
      minute: { limit: 60, used: 50 },
      day: { limit: 1_000, used: 520 },
    });
    expect(await fallback.reserve(shop, false)).toMatchObject({ minute: { limit: 60, used: 51 }, day: { used: 521 } });
    await grants(fallback);
    expect(await fallback.reserve(shop, false)).toMatchObject({ outcome: "refused", minute: { limit: 60, used: 60 } });
  });

  it("a cost above the share but within the limit is refused, above the limit impossible", async () => {
    const { fallback, outages } = openFallback();
    outages.count = 1;
    const refused = { outcome: "refused", by: "minute", retryAtMs: noon + minuteMs, minute: { limit: 60, used: 30 } };
    expect(await fallback.reserve({ ...shop, cost: 31 }, false)).toMatchObject(refused);
    expect(await fallback.reserve({ ...shop, cost: 60 }, false)).toMatchObject(refused);
    expect(await fallback.reserve({ ...shop, cost: 61 }, false)).toMatchObject({ outcome: "impossible" });
    expect(await fallback.reserve({ ...shop, cost: 30 }, false)).toMatchObject({ outcome: "admitted" });
  });

  it("a ban seen before the outage holds to its end, for its key alone", async () => {
    const { fallback, clock, outages } = openFallback();
    const bannedUntilMs = noon + 90_000;
    fallback.observe(shop, { ...admitted(60), outcome: "banned", bannedUntilMs, retryAtMs: bannedUntilMs });
    outages.count = 1;
    clock.nowMs = bannedUntilMs - 1;
    expect(await fallback.reserve(shop, false)).toMatchObject({ outcome: "banned", bannedUntilMs });
    expect(await fallback.reserve({ ...shop, key: "2" }, false)).toMatchObject({ outcome: "admitted" });
    clock.nowMs = bannedUntilMs;
    expect(await fallback.reserve(shop, false)).toMatchObject({ outcome: "admitted" });
  });

  it("a ban that was lifted does not return with the next outage", async () => {
    const { fallback, outages } = openFallback();
    const banned: Decision = {
      ...admitted(1),
      outcome: "banned",
      bannedUntilMs: noon + hourMs,
      retryAtMs: noon + hourMs,
    };
    fallback.observe(shop, banned);
    outages.count = 1;
    expect(await fallback.reserve(shop, false)).toMatchObject({ outcome: "banned" });
    fallback.observe(shop, admitted(2));
    outages.count = 2;
    expect(await fallback.reserve(shop, false)).toMatchObject({ outcome: "admitted" });
    fallback.observe(shop, banned);
    await fallback.liftBan({ account: "shop", key: "1" });
    outages.count = 3;
    expect(await fallback.reserve(shop, false)).toMatchObject({ outcome: "admitted" });
  });

  it("bans a key that calls on after its refusals, by the account's limit and not by its share", async () => {
    const banPolicy: BanPolicy = { ...defaultBanPolicy, minimumStrikes: 1, strikesPerUnit: 1, graceMs: -1 };
    const { fallback, outages } = openFallback({ banPolicy });
    outages.count = 1;
    const small = { ...shop, limits: { perMinute: 4, perDay: 100 } };
    // Its share is 2 units a minute, but it takes 4 strikes after the first refusal.
    const expected = [...Array(2).fill("admitted"), ...Array(4).fill("refused"), "banned"];
    expect(await outcomes(fallback, 7, small)).toEqual(expected);
  });

  it("keeps the windows of the shared clock when this machine's is an hour off", async () => {
    const { fallback, clock, outages } = openFallback();
    clock.nowMs = noon + hourMs;
    fallback.observe(shop, admitted(40));
    outages.count = 1;
    expect(await grants(fallback)).toBe(10);
    clock.nowMs += minuteMs - 1;
    expect(await fallback.reserve(shop, false)).toMatchObject({ outcome: "refused", retryAtMs: noon + minuteMs });
    clock.nowMs += 1;
    expect(await fallback.reserve(shop, false)).toMatchObject({ outcome: "admitted", nowMs: noon + minuteMs });
  });

  it("an interrupted outage hands out nothing twice", async () => {
    const { fallback, outages } = openFallback();
    fallback.observe(shop, admitted(40));
    outages.count = 1;
    expect(await grants(fallback)).toBe(10);
    outages.count = 2;
    expect(await grants(fallback)).toBe(0);
  });

  it("reset forgets what was seen and granted, and keeps a ban", async () => {
    const { fallback, outages } = openFallback();
    const bannedUntilMs = noon + hourMs;
    fallback.observe(shop, { ...admitted(60), outcome: "banned", bannedUntilMs, retryAtMs: bannedUntilMs });
    await fallback.reset("shop");
    outages.count = 1;
    expect(await grants(fallback)).toBe(30);
    expect(await fallback.reserve(shop, false)).toMatchObject({ outcome: "banned" });
    await fallback.reset("shop");
    expect(await grants(fallback)).toBe(30);
  });

  it("memory stays bounded: beyond its capacity the account that was idle longest is forgotten", async () => {
    const { fallback, outages } = openFallback({ capacity: 2 });
    for (const account of ["one", "two", "three"]) fallback.observe({ ...shop, account }, admitted(60));
    outages.count = 1;
    expect(await grants(fallback, { ...shop, account: "three" })).toBe(0);
    expect(await grants(fallback, { ...shop, account: "one" })).toBe(30);
  });
});

async function grants(fallback: Fallback, reservation = shop): Promise<number> {
  const given = await outcomes(fallback, 100, { ...reservation, key: `${Math.random()}` });
  return given.filter((outcome) => outcome === "admitted").length;
}
