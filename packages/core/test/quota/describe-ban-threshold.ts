import { describe, expect, it } from "vitest";
import { defaultBanPolicy } from "../../src/quota/ban-policy.js";
import { limitsOf } from "../../src/quota/plan.js";
import { dayMs, minuteMs } from "../../src/quota/window.js";
import { createCaller, type OpenQuota } from "./caller.js";

const noon = Date.UTC(2031, 4, 14) + dayMs / 2;
const free = limitsOf({ plan: "free" });

/** How many strikes ban a key: more than programs that honour Retry-After can make, and soon enough for a loop. */
export function describeBanThreshold(open: OpenQuota): void {
  describe("ban threshold", () => {
    it.each([
      [1, 120],
      [60, 120],
      [61, 122],
      [300, 600],
    ])(
      "twice the minute limit in strikes bans, and never fewer than 120: at %i a minute, %i",
      async (perMinute, strikes) => {
        await using opened = await open(defaultBanPolicy);
        const caller = createCaller(opened, { perMinute, perDay: 100_000 });
        await caller.reserve(noon, perMinute);
        await caller.reserve(noon);
        const outcomes = await caller.outcomes(noon + 10_000, strikes);
        expect(outcomes).toEqual([...Array(strikes - 1).fill("refused"), "banned"]);
      },
    );

    it.each([
      [100, 3_800],
      [10, 20_000],
    ])("a loop of %i requests/s on Free is banned after %i ms", async (perSecond, bannedAfterMs) => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, free);
      let nowMs = noon;
      while ((await caller.reserve(nowMs)).outcome !== "banned") nowMs += 1_000 / perSecond;
      expect(nowMs - noon).toBe(bannedAfterMs);
    });

    it.each([4, 60, 150])(
      "just below twice a limit of %i a minute is refused, not banned, when the minute and when the day is used up",
      async (perMinute) => {
        for (const perDay of [perMinute, 100_000]) {
          await using opened = await open(defaultBanPolicy);
          const caller = createCaller(opened, { perMinute, perDay });
          const requests = 2 * perMinute - 1;
          const outcomes = new Set<string>();
          for (let request = 0; request < 3 * requests; request += 1) {
            const nowMs = noon + Math.floor((request * minuteMs) / requests);
            outcomes.add((await caller.reserve(nowMs)).outcome);
          }
          expect(outcomes).toEqual(new Set(["admitted", "refused"]));
        }
      },
    );

    it("120 programs that share a Free key are refused once each and not banned", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, free);
      await caller.reserve(noon, 60);
      for (let program = 0; program < 120; program += 1) {
        expect(await caller.reserve(noon + 5_000 + program * 400)).toMatchObject({ outcome: "refused" });
      }
    });

    it("a change of plan changes the strikes that ban at once", async () => {
      await using opened = await open({ ...defaultBanPolicy, minimumStrikes: 1, strikesPerUnit: 1 });
      const caller = createCaller(opened, { perMinute: 4, perDay: 1_000 });
      await caller.outcomes(noon + 10_000, 5);
      expect(await caller.outcomes(noon + 20_000, 2)).toEqual(["refused", "refused"]);
      expect(await caller.onPlan({ perMinute: 3, perDay: 1_000 }).reserve(noon + 20_000)).toMatchObject({
        outcome: "banned",
      });
    });

    it("0 strikes switches bans off", async () => {
      await using opened = await open({ ...defaultBanPolicy, minimumStrikes: 0 });
      const caller = createCaller(opened, free);
      await caller.outcomes(noon + 10_000, 61);
      expect(await caller.outcomes(noon + 20_000, 500)).toEqual(Array(500).fill("refused"));
    });
  });
}
