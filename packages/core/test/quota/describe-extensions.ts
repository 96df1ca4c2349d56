import { describe, expect, it } from "vitest";
import { type BanPolicy, defaultBanPolicy } from "../../src/quota/ban-policy.js";
import { dayMs, minuteMs } from "../../src/quota/window.js";
import { createCaller, type OpenQuota } from "./caller.js";

const noon = Date.UTC(2031, 4, 14, 12);
const reset = noon + minuteMs;
const midnight = noon + dayMs / 2;
const limits = { perMinute: 5, perDay: 8 };
const small = { perMinute: 4, perDay: 100 };
const oneStrike: BanPolicy = { ...defaultBanPolicy, minimumStrikes: 1, strikesPerUnit: 0 };

/** A request that holds one unit turns out to cost more. */
export function describeExtensions(open: OpenQuota): void {
  describe("extensions", () => {
    it("leaves exactly n units charged when it admits", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      const held = await caller.admit(noon);
      expect(await caller.extend(noon + 1, held, 5)).toMatchObject({
        outcome: "admitted",
        nowMs: noon + 1,
        minute: { limit: 5, used: 5, resetAtMs: reset },
        day: { limit: 8, used: 5, resetAtMs: midnight },
      });
      expect(await caller.usage(noon + 1)).toMatchObject({ minute: { used: 5 }, day: { used: 5 } });
    });

    it("counts the held unit: 4 units fit where 3 are left, 5 do not", async () => {
      for (const [cost, outcome, used] of [
        [4, "admitted", 5],
        [5, "refused", 1],
      ] as const) {
        await using opened = await open(defaultBanPolicy);
        const caller = createCaller(opened, limits);
        await caller.reserve(noon);
        const held = await caller.admit(noon);
        expect(await caller.extend(noon, held, cost)).toMatchObject({ outcome, minute: { used }, day: { used } });
        expect(await caller.usage(noon)).toMatchObject({ minute: { used }, day: { used } });
      }
    });

    it("gives the held unit back when the minute refuses, with the Retry-After of n units", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      await caller.reserve(noon, 3);
      const held = await caller.admit(noon);
      expect(await caller.extend(noon, held, 3)).toMatchObject({
        outcome: "refused",
        by: "minute",
        retryAtMs: reset,
        minute: { used: 3 },
        day: { used: 3 },
      });
      expect(await caller.reserve(noon, 2)).toMatchObject({ outcome: "admitted" });
      expect(await caller.reserve(noon)).toMatchObject({ outcome: "refused" });
    });

    it("names the day when the day has too few units for n", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      await caller.reserve(noon - minuteMs, 5);
      const held = await caller.admit(noon);
      expect(await caller.extend(noon, held, 4)).toMatchObject({
        outcome: "refused",
        by: "day",
        retryAtMs: midnight,
        minute: { used: 0 },
        day: { used: 5 },
      });
    });

    it("gives the held unit back when n is above a whole limit, without a strike", async () => {
      await using opened = await open(oneStrike);
      const caller = createCaller(opened, limits);
      await caller.reserve(noon, 4);
      await caller.reserve(noon, 2);
      const held = await caller.admit(noon);
      expect(await caller.extend(noon + 10_000, held, 6)).toMatchObject({ outcome: "impossible", minute: { used: 4 } });
      expect(await caller.usage(noon + 10_000)).not.toHaveProperty("bannedUntilMs");
      expect(await caller.reserve(noon + 10_000)).toMatchObject({ outcome: "admitted" });
    });

    it("a refused extension is a refusal like any other: the first one starts an episode, a later one is a strike", async () => {
      await using opened = await open(oneStrike);
      const caller = createCaller(opened, small);
      await caller.reserve(noon, 3);
      expect(await caller.extend(noon + 1_000, await caller.admit(noon), 2)).toMatchObject({ outcome: "refused" });
      const held = await caller.admit(noon + 10_000);
      expect(await caller.extend(noon + 10_000, held, 4)).toMatchObject({ outcome: "banned", minute: { used: 3 } });
    });

    it("a refused extension is one strike at any cost", async () => {
      await using opened = await open({ ...oneStrike, minimumStrikes: 2 });
      const caller = createCaller(opened, small);
      await caller.reserve(noon, 3);
      for (const [nowMs, outcome] of [
        [noon, "refused"],
        [noon + 10_000, "refused"],
        [noon + 10_000, "banned"],
      ] as const) {
        expect(await caller.extend(nowMs, await caller.admit(nowMs), 4)).toMatchObject({ outcome });
      }
    });

    it("gives the held unit back to a key that was banned in between, and does not lengthen the ban", async () => {
      await using opened = await open({ ...oneStrike, graceMs: -1 });
      const caller = createCaller(opened, small);
      const held = await caller.admit(noon);
      const { bannedUntilMs } = await caller.callUntilBanned(noon);
      expect(await caller.extend(noon + 1, held, 2)).toMatchObject({
        outcome: "banned",
        bannedUntilMs,
        minute: { used: 3 },
        day: { used: 3 },
      });
    });

    it("charges a new minute n units; the day counts the held unit", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      const held = await caller.admit(reset - 1);
      expect(await caller.extend(reset, held, 5)).toMatchObject({
        outcome: "admitted",
        minute: { used: 5, resetAtMs: reset + minuteMs },
        day: { used: 5 },
      });
    });

    it("charges a new day n units", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      const held = await caller.admit(midnight - 1);
      expect(await caller.extend(midnight, held, 5)).toMatchObject({
        outcome: "admitted",
        minute: { used: 5, resetAtMs: midnight + minuteMs },
        day: { used: 5, resetAtMs: midnight + dayMs },
      });
    });

    it("gives nothing back to a later window when it refuses", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      const held = await caller.admit(reset - 1);
      await caller.reserve(reset, 4);
      expect(await caller.extend(reset, held, 2)).toMatchObject({
        outcome: "refused",
        minute: { used: 4 },
        day: { used: 4 },
      });
    });

    it("never goes below zero: after a reset of the account it charges n units", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      const held = await caller.admit(noon);
      await caller.reset(noon);
      expect(await caller.extend(noon, held, 6)).toMatchObject({ outcome: "impossible", minute: { used: 0 } });
      expect(await caller.extend(noon, held, 5)).toMatchObject({ outcome: "admitted", minute: { used: 5 } });
    });

    it("decides under the limits of the plan that holds when it is made", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      const held = await caller.admit(noon);
      const larger = caller.onPlan({ perMinute: 9, perDay: 9 });
      expect(await larger.extend(noon, held, 9)).toMatchObject({ outcome: "admitted", minute: { limit: 9, used: 9 } });
    });

    it("an extended admission is refunded in full", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      const held = await caller.admit(reset - 1);
      const extended = await caller.extend(reset, held, 4);
      expect(await caller.refund(reset, 4, extended)).toMatchObject({ minute: { used: 0 }, day: { used: 0 } });
    });

    it("100 concurrent extensions of 1 unit to 3 at a limit of 200: exactly 66 are admitted", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, { perMinute: 200, perDay: 1_000 });
      const held = await Promise.all(Array.from({ length: 100 }, () => caller.admit(noon)));
      const decisions = await Promise.all(held.map((one) => caller.extend(noon, one, 3)));
      expect(decisions.filter(({ outcome }) => outcome === "admitted")).toHaveLength(66);
      expect(await caller.usage(noon)).toMatchObject({ minute: { used: 198 }, day: { used: 198 } });
    });
  });
}
