import { describe, expect } from "vitest";
import { limitsOf } from "../../src/quota/plan.js";
import { dayMs, minuteMs } from "../../src/quota/window.js";
import { brief, expectReplies, midnight, noon, oneStrike, tomorrow } from "./caller.js";
import type { Rule } from "./rule.js";

const reset = noon + minuteMs;
const free = limitsOf({ plan: "free" });
const pro = limitsOf({ plan: "pro" });
const limits = { perMinute: 5, perDay: 8 };
const fourPerMinute = { perMinute: 4, perDay: 100 };

/** Units count in a UTC minute and a UTC day, in both or in neither. */
export function describeWindows(rule: Rule): void {
  describe("windows", () => {
    rule("admits the 60th request of a minute and refuses the 61st", { limits: free }, async (caller) => {
      const windows = {
        minute: { limit: 60, used: 60, resetAtMs: reset },
        day: { limit: 1_000, used: 60, resetAtMs: tomorrow },
      };
      await caller.outcomes(noon, 59);
      expect(await caller.reserve(noon + 1)).toMatchObject({ outcome: "admitted", nowMs: noon + 1, ...windows });
      const refused = { outcome: "refused", by: "minute", retryAtMs: reset, nowMs: noon + 2, ...windows };
      expect(await caller.reserve(noon + 2)).toMatchObject(refused);
    });

    rule("a refusal spends nothing in either window", { limits }, async (caller) => {
      await expectReplies(
        caller,
        [noon, 3, "admitted 3/3"],
        [noon, 3, "refused 3/3"],
        [noon, 2, "admitted 5/5"],
        [noon, 1, "refused 5/5"],
        [reset, 3, "admitted 3/8"],
        [reset, 1, "refused 3/8"],
      );
    });

    rule("refuses until 1 ms before the reset of a window and admits from the reset on", { limits }, async (caller) => {
      for (const [offsetMs, reply] of [
        [-1, "refused"],
        [0, "admitted"],
        [1, "admitted"],
      ] as const) {
        await expectReplies(caller.otherAccount(), [noon, 5, "admitted"], [reset + offsetMs, 1, reply]);
        const day = caller.otherAccount();
        await expectReplies(day, [noon, 5, "admitted"], [reset, 3, "admitted"], [tomorrow + offsetMs, 1, reply]);
      }
    });

    rule("a change of plan acts at once and keeps the usage", { limits: free }, async (caller) => {
      await expectReplies(caller, [noon, 60, "admitted 60/60"], [noon, 1, "refused 60/60"]);
      await expectReplies(caller.onPlan(pro), [noon, 240, "admitted 300/300"], [noon, 1, "refused 300/300"]);
      await expectReplies(caller, [noon, 1, "refused 300/300"], [reset, 1, "admitted 1/301"]);
    });

    rule("a cost above a whole limit is impossible and spends nothing", { limits }, async (caller) => {
      await expectReplies(caller, [noon, 6, "impossible 0/0"]);
      const wide = caller.onPlan({ perMinute: 9, perDay: 8 });
      await expectReplies(wide, [noon, 9, "impossible 0/0"], [noon, 8, "admitted 8/8"]);
    });

    for (const [window, lengthMs, firstMs] of [
      ["minute", minuteMs, noon],
      ["day", dayMs, midnight],
    ] as const) {
      const title = `a clock that steps back by at most a ${window} grants no unit twice, and by more starts a new window`;
      rule(title, { limits: { perMinute: 6, perDay: 6 } }, async (first) => {
        for (const [stepMs, used, resetAtMs] of [
          [0, 6, firstMs + lengthMs],
          [1, 6, firstMs + lengthMs],
          [lengthMs, 6, firstMs + lengthMs],
          [lengthMs + 1, 1, firstMs - lengthMs],
        ] as const) {
          const caller = first.otherAccount();
          await caller.admit(firstMs, 5);
          const decision = await caller.reserve(firstMs - stepMs);
          expect(decision[window], `${stepMs} ms`).toEqual({ limit: 6, used, resetAtMs });
        }
      });
    }

    rule("keys of one account share its windows, accounts share nothing", { limits }, async (caller) => {
      await caller.admit(noon, 5);
      await expectReplies(caller.sibling(), [noon, 1, "refused"]);
      await expectReplies(caller.withoutKey(), [noon, 1, "refused"]);
      await expectReplies(caller.otherAccount(), [noon, 1, "admitted 1/1"]);
    });
  });

  describe("refunds", () => {
    rule("give units back within the window they were spent in", { limits }, async (caller) => {
      const admitted = await caller.admit(noon, 5);
      expect(await caller.refund(noon + 1, 2, admitted)).toEqual({
        nowMs: noon + 1,
        minute: { limit: 5, used: 3, resetAtMs: reset },
        day: { limit: 8, used: 3, resetAtMs: tomorrow },
      });
      await expectReplies(caller, [noon + 1, 2, "admitted 5/5"], [noon + 1, 1, "refused 5/5"]);
    });

    rule("never go below zero", { limits }, async (caller) => {
      await caller.refund(noon, 3, await caller.admit(noon, 2));
      await expectReplies(caller, [noon, 5, "admitted 5/5"]);
    });

    rule("give nothing to a later minute or day, but give to the day they were spent in", { limits }, async (first) => {
      for (const laterMs of [reset, tomorrow]) {
        const caller = first.otherAccount();
        const admitted = await caller.admit(laterMs - 1, 2);
        await caller.admit(laterMs, 4);
        const windows = await caller.refund(laterMs, 2, admitted);
        expect(windows).toMatchObject({ minute: { used: 4 }, day: { used: 4 } });
      }
    });
  });

  // A request that holds one unit turns out to cost more.
  describe("extensions", () => {
    for (const [title, spentAtMs, spent, atMs, cost, reply] of [
      ["count the held unit: 4 units fit where 3 are left", noon, 1, noon + 1, 4, "admitted 5/5"],
      ["keep the held unit when the minute refuses", noon, 1, noon + 1, 5, "refused 2/2"],
      ["keep it when the day refuses", noon - minuteMs, 5, noon + 1, 4, "refused 1/6"],
      ["keep it when n is above a whole limit", noon, 3, noon + 1, 6, "impossible 4/4"],
      ["charge a new minute n units; the day counts the held unit", noon, 1, reset, 5, "admitted 5/6"],
      ["charge a new day n units", noon, 1, tomorrow, 5, "admitted 5/5"],
    ] as const) {
      rule(title, { limits }, async (caller) => {
        await caller.admit(spentAtMs, spent);
        const held = await caller.admit(atMs - 1);
        expect(brief(await caller.extend(atMs, held, cost))).toBe(reply);
        const { minute, day } = await caller.usage(atMs);
        expect(reply).toContain(` ${minute.used}/${day.used}`);
      });
    }

    rule("take nothing from a later minute or day when it refuses", { limits }, async (first) => {
      for (const [laterMs, used] of [
        [reset, "4/5"],
        [tomorrow, "4/4"],
      ] as const) {
        const caller = first.otherAccount();
        const held = await caller.admit(laterMs - 1);
        await caller.admit(laterMs, 4);
        expect(brief(await caller.extend(laterMs, held, 2))).toBe(`refused ${used}`);
      }
    });

    rule("that are refused until no unit is left are as many as the units", { limits }, async (caller) => {
      const outcomes: string[] = [];
      for (let request = 0; request < 7; request += 1) {
        const held = await caller.reserve(noon);
        outcomes.push(held.outcome === "admitted" ? (await caller.extend(noon, held, 6)).outcome : "not parsed");
      }
      expect(outcomes).toEqual([...Array(5).fill("impossible"), "not parsed", "not parsed"]);
    });

    rule("that are refused name the window with too few units for n, and its reset", { limits }, async (caller) => {
      await caller.admit(noon, 3);
      const byMinute = await caller.extend(noon, await caller.admit(noon), 3);
      expect(byMinute).toMatchObject({ outcome: "refused", by: "minute", retryAtMs: reset });
      const byDay = await caller.extend(reset, await caller.admit(reset), 5);
      expect(byDay).toMatchObject({ outcome: "refused", by: "day", retryAtMs: tomorrow });
    });

    rule(
      "that are refused name the day, if it has too few units for n beside the held one",
      { limits },
      async (caller) => {
        await caller.admit(noon, 3);
        const held = await caller.admit(noon);
        // The day has 4 units left and the held one, but the minute has 1. At its reset, the day has 4 left.
        const refused = await caller.extend(noon, held, 5);
        expect(refused).toMatchObject({ outcome: "refused", by: "day", retryAtMs: tomorrow });
        expect(await caller.reserve(reset, 5)).toMatchObject({ outcome: "refused", by: "day" });
      },
    );

    const oneStrikeBans = { limits, policy: { minimumStrikes: 1, strikesPerUnit: 0 } };
    rule("that the day refuses begin an episode that goes on after the minute", oneStrikeBans, async (caller) => {
      const startMs = noon + 10_000;
      await caller.admit(startMs, 3);
      await caller.extend(startMs, await caller.admit(startMs), 5);
      await expectReplies(caller, [reset + 5_000, 5, "banned"]);
    });

    rule("that were refused can still be refunded their held unit, and no more", { limits }, async (caller) => {
      const held = await caller.admit(noon);
      await caller.admit(noon, 3);
      await caller.extend(noon, held, 3);
      expect(await caller.refund(noon, 1, held)).toMatchObject({ minute: { used: 3 }, day: { used: 3 } });
    });

    const twoStrikes = { limits: fourPerMinute, policy: { minimumStrikes: 2, strikesPerUnit: 0 } };
    rule("that are refused are one strike each, but for the first of an episode", twoStrikes, async (caller) => {
      await caller.admit(noon);
      for (const [nowMs, reply] of [
        [noon, "refused 2/2"],
        [noon + 10_000, "refused 3/3"],
        [noon + 10_000, "banned 4/4"],
      ] as const) {
        expect(brief(await caller.extend(nowMs, await caller.admit(nowMs), 4))).toBe(reply);
      }
    });

    const quick = { limits: fourPerMinute, policy: oneStrike };
    rule("keep the held unit of a key that was banned in between", quick, async (caller) => {
      const held = await caller.admit(noon);
      const { bannedUntilMs } = await caller.callUntilBanned(noon);
      const decision = await caller.extend(noon + 1, held, 2);
      expect(decision, "the ban is no longer").toMatchObject({ bannedUntilMs });
      expect(brief(decision)).toBe("banned 4/4");
    });
  });
}
