import { describe, expect } from "vitest";
import { minuteMs } from "../../src/quota/window.js";
import { brief, noon, oneStrike, tomorrow } from "./caller.js";
import type { Rule } from "./describe-quota.js";

const reset = noon + minuteMs;
const limits = { perMinute: 5, perDay: 8 };
const small = { perMinute: 4, perDay: 100 };

/** A request that holds one unit turns out to cost more. */
export function describeExtensions(rule: Rule): void {
  describe("extensions", () => {
    for (const [title, { before = [], atMs = noon + 1, since = 0 }, cost, reply] of [
      ["leave exactly n units charged", {}, 5, "admitted 5/5"],
      ["count the held unit: 4 units fit where 3 are left", { before: [[noon, 1]] }, 4, "admitted 5/5"],
      ["give the held unit back when the minute refuses", { before: [[noon, 1]] }, 5, "refused 1/1"],
      ["give it back when the day refuses", { before: [[noon - minuteMs, 5]] }, 4, "refused 0/5"],
      ["give it back when n is above a whole limit", { before: [[noon, 4]] }, 6, "impossible 4/4"],
      ["charge a new minute n units; the day counts the held unit", { atMs: reset }, 5, "admitted 5/5"],
      ["charge a new day n units", { atMs: tomorrow }, 5, "admitted 5/5"],
      ["give nothing back to a later minute when it refuses", { atMs: reset, since: 4 }, 2, "refused 4/4"],
    ] as readonly (readonly [title: string, given: Extension, cost: number, reply: string])[]) {
      rule(title, { limits }, async (caller) => {
        for (const [beforeMs, units] of before) await caller.admit(beforeMs, units);
        const held = await caller.admit(atMs - 1);
        if (since > 0) await caller.admit(atMs, since);
        expect(brief(await caller.extend(atMs, held, cost))).toBe(reply);
        const { minute, day } = await caller.usage(atMs);
        expect(reply).toContain(` ${minute.used}/${day.used}`);
      });
    }

    rule("that are refused name the window with too few units for n, and its reset", { limits }, async (caller) => {
      await caller.admit(noon, 3);
      const byMinute = await caller.extend(noon, await caller.admit(noon), 3);
      expect(byMinute).toMatchObject({ outcome: "refused", by: "minute", retryAtMs: reset });
      await caller.admit(reset);
      const byDay = await caller.extend(reset + minuteMs, await caller.admit(reset + minuteMs), 5);
      expect(byDay).toMatchObject({ outcome: "refused", by: "day", retryAtMs: tomorrow });
    });

    const twoStrikes = { limits: small, policy: { minimumStrikes: 2, strikesPerUnit: 0 } };
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

    const quick = { limits: small, policy: oneStrike };
    rule("give the held unit back to a key that was banned in between", quick, async (caller) => {
      const held = await caller.admit(noon);
      const { bannedUntilMs } = await caller.callUntilBanned(noon);
      const decision = await caller.extend(noon + 1, held, 2);
      expect(decision, "the ban is no longer").toMatchObject({ bannedUntilMs });
      expect(brief(decision)).toBe("banned 3/3");
    });
  });
}

interface Extension {
  /** Reservations before the held unit: the instant and the units of each. */
  readonly before?: readonly (readonly [number, number])[];
  /** The instant of the extension. The unit is held since 1 ms before it. */
  readonly atMs?: number;
  /** Units that were spent at that instant. */
  readonly since?: number;
}
