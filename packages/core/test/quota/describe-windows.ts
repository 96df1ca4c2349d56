import { describe, expect, it } from "vitest";
import { defaultBanPolicy } from "../../src/quota/ban-policy.js";
import { retryAfterSeconds } from "../../src/quota/decision.js";
import { limitsOf } from "../../src/quota/plan.js";
import { dayMs, minuteMs } from "../../src/quota/window.js";
import { createCaller, type OpenQuota } from "./caller.js";

const midnight = Date.UTC(2031, 4, 14);
const noon = midnight + dayMs / 2;
const tomorrow = midnight + dayMs;
const free = limitsOf({ plan: "free" });
const pro = limitsOf({ plan: "pro" });
const limits = { perMinute: 5, perDay: 8 };

/** Units count in a UTC minute and a UTC day, in both or in neither. */
export function describeWindows(open: OpenQuota): void {
  describe("windows", () => {
    it("admits the 60th request of a minute and refuses the 61st", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, free);
      expect(await caller.outcomes(noon, 59)).not.toContain("refused");
      expect(await caller.reserve(noon + 1)).toMatchObject({
        outcome: "admitted",
        nowMs: noon + 1,
        minute: { limit: 60, used: 60, resetAtMs: noon + minuteMs },
        day: { limit: 1_000, used: 60, resetAtMs: tomorrow },
      });
      expect(await caller.reserve(noon + 2)).toMatchObject({
        outcome: "refused",
        by: "minute",
        retryAtMs: noon + minuteMs,
        nowMs: noon + 2,
        minute: { limit: 60, used: 60, resetAtMs: noon + minuteMs },
        day: { limit: 1_000, used: 60, resetAtMs: tomorrow },
      });
    });

    it("the day refuses request 1,001 although the minute has room", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, free);
      for (let minute = 0; minute < 20; minute += 1) {
        expect(await caller.reserve(midnight + minute * minuteMs, 50)).toMatchObject({ outcome: "admitted" });
      }
      expect(await caller.reserve(noon)).toMatchObject({
        outcome: "refused",
        by: "day",
        retryAtMs: tomorrow,
        nowMs: noon,
        minute: { limit: 60, used: 0, resetAtMs: noon + minuteMs },
        day: { limit: 1_000, used: 1_000, resetAtMs: tomorrow },
      });
    });

    it("names the day when both windows refuse, because only its reset helps", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, { perMinute: 5, perDay: 5 });
      await caller.reserve(noon, 5);
      expect(await caller.reserve(noon)).toMatchObject({ outcome: "refused", by: "day", retryAtMs: tomorrow });
    });

    it("a refusal spends nothing in either window", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      await caller.reserve(noon, 5);
      expect(await caller.outcomes(noon, 4)).toEqual(Array(4).fill("refused"));
      expect(await caller.usage(noon)).toMatchObject({ minute: { used: 5 }, day: { used: 5 } });
      const next = noon + minuteMs;
      expect(await caller.reserve(next, 3)).toMatchObject({ outcome: "admitted" });
      expect(await caller.outcomes(next, 4)).toEqual(Array(4).fill("refused"));
      expect(await caller.usage(next)).toMatchObject({ minute: { used: 3 }, day: { used: 8 } });
    });

    it("three units are refused when two remain, and one is admitted", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      await caller.reserve(noon, 3);
      expect(await caller.reserve(noon, 3)).toMatchObject({
        outcome: "refused",
        minute: { used: 3 },
        day: { used: 3 },
      });
      expect(await caller.reserve(noon, 1)).toMatchObject({
        outcome: "admitted",
        minute: { used: 4 },
        day: { used: 4 },
      });
    });

    it.each([
      { window: "minute", spend: [noon], resetAtMs: noon + minuteMs },
      { window: "day", spend: [midnight, midnight + minuteMs], resetAtMs: tomorrow },
    ])("refuses until 1 ms before the $window's reset and admits from the reset on", async ({ spend, resetAtMs }) => {
      for (const [offsetMs, outcome] of [
        [-1, "refused"],
        [0, "admitted"],
        [1, "admitted"],
      ] as const) {
        await using opened = await open(defaultBanPolicy);
        const caller = createCaller(opened, { perMinute: 4, perDay: 8 });
        for (const atMs of spend) await caller.reserve(atMs, 4);
        expect(await caller.reserve(resetAtMs + offsetMs), `${offsetMs} ms`).toMatchObject({ outcome });
      }
    });

    it.each([0, 1, 999, 1_000, 1_001, 58_999, 59_000, 59_999])(
      "a request made at Retry-After is admitted: refused %i ms into the minute",
      async (offsetMs) => {
        await using opened = await open(defaultBanPolicy);
        const caller = createCaller(opened, limits);
        await caller.reserve(noon, 5);
        const refused = await caller.reserve(noon + offsetMs);
        if (refused.outcome !== "refused") throw new Error(`expected a refusal, got ${refused.outcome}`);
        const seconds = retryAfterSeconds(refused);
        expect(seconds).toBe(Math.floor((60_000 - offsetMs) / 1_000) + 1);
        expect(await caller.reserve(refused.nowMs + seconds * 1_000)).toMatchObject({ outcome: "admitted" });
      },
    );

    it("a change of plan acts at once and keeps the usage", async () => {
      await using opened = await open(defaultBanPolicy);
      const before = createCaller(opened, free);
      const after = before.onPlan(pro);
      await before.reserve(noon, 60);
      expect(await before.reserve(noon)).toMatchObject({ outcome: "refused" });
      expect(await after.reserve(noon, 240)).toMatchObject({ outcome: "admitted", minute: { limit: 300, used: 300 } });
      expect(await after.reserve(noon)).toMatchObject({ outcome: "refused" });
      expect(await before.reserve(noon)).toMatchObject({ outcome: "refused", minute: { limit: 60, used: 300 } });
      expect(await before.reserve(noon + minuteMs)).toMatchObject({
        outcome: "admitted",
        day: { limit: 1_000, used: 301 },
      });
    });

    it("a cost above the limit is impossible and spends nothing", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      expect(await caller.reserve(noon, 6)).toMatchObject({
        outcome: "impossible",
        nowMs: noon,
        minute: { limit: 5, used: 0, resetAtMs: noon + minuteMs },
        day: { limit: 8, used: 0, resetAtMs: tomorrow },
      });
      expect(await caller.onPlan({ perMinute: 9, perDay: 8 }).reserve(noon, 9)).toMatchObject({
        outcome: "impossible",
      });
      expect(await caller.onPlan({ perMinute: 9, perDay: 8 }).reserve(noon, 8)).toMatchObject({ outcome: "admitted" });
    });

    it.each([
      { window: "minute", lengthMs: minuteMs, firstMs: noon },
      { window: "day", lengthMs: dayMs, firstMs: midnight },
    ] as const)(
      "a clock that stepped back by less than a $window grants no unit twice, and by more starts a new window",
      async ({ window, lengthMs, firstMs }) => {
        const spent = { limit: 5, used: 5, resetAtMs: firstMs + lengthMs };
        for (const [nowMs, expected] of [
          [firstMs, spent],
          [firstMs - 1, spent],
          [firstMs - lengthMs, spent],
          [firstMs - lengthMs - 1, { limit: 5, used: 0, resetAtMs: firstMs - lengthMs }],
        ] as const) {
          await using opened = await open(defaultBanPolicy);
          const caller = createCaller(opened, { perMinute: 5, perDay: 5 });
          await caller.reserve(firstMs, 5);
          expect((await caller.usage(nowMs))[window], `${nowMs - firstMs} ms`).toEqual(expected);
        }
      },
    );

    it("units spent under a clock that stepped back count in the window it had reached", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      await caller.reserve(noon, 3);
      expect(await caller.reserve(noon - 1, 2)).toMatchObject({ outcome: "admitted", minute: { used: 5 } });
      expect(await caller.reserve(noon - 1)).toMatchObject({ outcome: "refused", retryAtMs: noon + minuteMs });
      expect(await caller.reserve(noon)).toMatchObject({ outcome: "refused" });
    });

    it("a clock that stepped back by minutes keeps the day", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      await caller.reserve(noon, 5);
      expect(await caller.reserve(noon - 5 * minuteMs, 3)).toMatchObject({
        outcome: "admitted",
        minute: { used: 3, resetAtMs: noon - 4 * minuteMs },
        day: { used: 8, resetAtMs: tomorrow },
      });
    });

    it("keys of one account share its windows, accounts share nothing", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      await caller.reserve(noon, 5);
      expect(await caller.sibling().reserve(noon)).toMatchObject({ outcome: "refused" });
      expect(await caller.withoutKey().reserve(noon)).toMatchObject({ outcome: "refused" });
      expect(await createCaller(opened, limits).reserve(noon)).toMatchObject({ outcome: "admitted" });
    });

    it("usage spends nothing, also for an unknown account", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      const untouched = {
        nowMs: noon,
        minute: { limit: 5, used: 0, resetAtMs: noon + minuteMs },
        day: { limit: 8, used: 0, resetAtMs: tomorrow },
      };
      expect(await caller.usage(noon)).toStrictEqual(untouched);
      expect(await caller.usage(noon)).toStrictEqual(untouched);
      await caller.reserve(noon, 2);
      await caller.usage(noon);
      expect(await caller.usage(noon)).toMatchObject({ minute: { used: 2 }, day: { used: 2 } });
    });

    it("reset forgets the units of the account, and of no other account", async () => {
      await using opened = await open(defaultBanPolicy);
      const [caller, other] = [createCaller(opened, limits), createCaller(opened, limits)];
      await caller.reserve(noon, 5);
      await other.reserve(noon, 5);
      await caller.reset(noon);
      const minute = { limit: 5, used: 0, resetAtMs: noon + minuteMs };
      expect(await caller.usage(noon)).toMatchObject({ minute, day: { used: 0 } });
      const before = { ...minute, resetAtMs: noon };
      expect(await caller.usage(noon - 1), "also the window it had reached").toMatchObject({ minute: before });
      expect(await caller.reserve(noon, 5)).toMatchObject({ outcome: "admitted" });
      expect(await other.reserve(noon)).toMatchObject({ outcome: "refused" });
    });

    it.each([
      { callers: 1_000, cost: 1, perMinute: 1, admitted: 1 },
      { callers: 1_000, cost: 3, perMinute: 100, admitted: 33 },
    ])("$callers concurrent callers of cost $cost at limit $perMinute: exactly $admitted admitted", async (burst) => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, { perMinute: burst.perMinute, perDay: 1_000 });
      const decisions = await Promise.all(
        Array.from({ length: burst.callers }, () => caller.reserve(noon, burst.cost)),
      );
      expect(decisions.filter(({ outcome }) => outcome === "admitted")).toHaveLength(burst.admitted);
    });
  });
}
