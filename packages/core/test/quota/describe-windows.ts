import { describe, expect } from "vitest";
import { limitsOf } from "../../src/quota/plan.js";
import { dayMs, minuteMs } from "../../src/quota/window.js";
import { brief, expectReplies, midnight, noon, oneStrike, tomorrow } from "./caller.js";
import type { Rule } from "./describe-quota.js";

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
      ["give the held unit back when the minute refuses", noon, 1, noon + 1, 5, "refused 1/1"],
      ["give it back when the day refuses", noon - minuteMs, 5, noon + 1, 4, "refused 0/5"],
      ["give it back when n is above a whole limit", noon, 4, noon + 1, 6, "impossible 4/4"],
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

    rule("give nothing back to a later minute when it refuses", { limits }, async (caller) => {
      const held = await caller.admit(reset - 1);
      await caller.admit(reset, 4);
      expect(brief(await caller.extend(reset, held, 2))).toBe("refused 4/4");
    });

    rule("that are refused name the window with too few units for n, and its reset", { limits }, async (caller) => {
      await caller.admit(noon, 3);
      const byMinute = await caller.extend(noon, await caller.admit(noon), 3);
      expect(byMinute).toMatchObject({ outcome: "refused", by: "minute", retryAtMs: reset });
      await caller.admit(reset);
      const byDay = await caller.extend(reset + minuteMs, await caller.admit(reset + minuteMs), 5);
      expect(byDay).toMatchObject({ outcome: "refused", by: "day", retryAtMs: tomorrow });
    });

    const twoStrikes = { limits: fourPerMinute, policy: { minimumStrikes: 2, strikesPerUnit: 0 } };
    rule("that are refused are one strike each, but for the first of an episode", twoStrikes, async (caller) => {
      await caller.admit(noon, 3);
      for (const [nowMs, outcome] of [
        [noon, "refused"],
        [noon + 10_000, "refused"],
        [noon + 10_000, "banned"],
      ] as const) {
        expect(brief(await caller.extend(nowMs, await caller.admit(nowMs), 4))).toBe(`${outcome} 3/3`);
      }
    });

    const quick = { limits: fourPerMinute, policy: oneStrike };
    rule("give the held unit back to a key that was banned in between", quick, async (caller) => {
      const held = await caller.admit(noon);
      const { bannedUntilMs } = await caller.callUntilBanned(noon);
      const decision = await caller.extend(noon + 1, held, 2);
      expect(decision, "the ban is no longer").toMatchObject({ bannedUntilMs });
      expect(brief(decision)).toBe("banned 3/3");
    });
  });
}
