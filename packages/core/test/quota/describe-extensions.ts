import { describe, expect } from "vitest";
import type { BanPolicy } from "../../src/quota/ban-policy.js";
import { dayMs, minuteMs } from "../../src/quota/window.js";
import { brief } from "./caller.js";
import type { Rule } from "./describe-quota.js";

const noon = Date.UTC(2031, 4, 14, 12);
const reset = noon + minuteMs;
const midnight = noon + dayMs / 2;
const limits = { perMinute: 5, perDay: 8 };
const small = { perMinute: 4, perDay: 100 };
const oneStrike: Partial<BanPolicy> = { minimumStrikes: 1, strikesPerUnit: 0 };

/** A request that holds one unit turns out to cost more. */
export function describeExtensions(rule: Rule): void {
  describe("extensions", () => {
    for (const { title, before = [], heldAtMs = noon, since = 0, nowMs = noon, cost, reply } of [
      { title: "leave exactly n units charged", cost: 5, reply: "admitted 5/5" },
      {
        title: "count the held unit: 4 units fit where 3 are left",
        before: [[noon, 1]],
        cost: 4,
        reply: "admitted 5/5",
      },
      { title: "give the held unit back when the minute refuses", before: [[noon, 1]], cost: 5, reply: "refused 1/1" },
      { title: "give it back when the day refuses", before: [[noon - minuteMs, 5]], cost: 4, reply: "refused 0/5" },
      { title: "give it back when n is above a whole limit", before: [[noon, 4]], cost: 6, reply: "impossible 4/4" },
      {
        title: "charge a new minute n units; the day counts the held unit",
        heldAtMs: reset - 1,
        nowMs: reset,
        cost: 5,
        reply: "admitted 5/5",
      },
      { title: "charge a new day n units", heldAtMs: midnight - 1, nowMs: midnight, cost: 5, reply: "admitted 5/5" },
      {
        title: "give nothing back to a later minute when it refuses",
        heldAtMs: reset - 1,
        since: 4,
        nowMs: reset,
        cost: 2,
        reply: "refused 4/4",
      },
    ] as readonly ExtensionCase[]) {
      rule(title, { limits }, async (caller) => {
        for (const [atMs, units] of before) await caller.admit(atMs, units);
        const held = await caller.admit(heldAtMs);
        if (since > 0) await caller.admit(nowMs, since);
        expect(brief(await caller.extend(nowMs, held, cost))).toBe(reply);
        const [, used] = reply.split(" ");
        const { minute, day } = await caller.usage(nowMs);
        expect(`${minute.used}/${day.used}`).toBe(used);
      });
    }

    rule("that are refused name the window with too few units for n, and its reset", { limits }, async (caller) => {
      await caller.admit(noon, 3);
      const byMinute = await caller.extend(noon, await caller.admit(noon), 3);
      expect(byMinute).toMatchObject({ outcome: "refused", by: "minute", retryAtMs: reset });
      await caller.admit(reset);
      const byDay = await caller.extend(reset + minuteMs, await caller.admit(reset + minuteMs), 5);
      expect(byDay).toMatchObject({ outcome: "refused", by: "day", retryAtMs: midnight });
    });

    rule(
      "that are refused are one strike each, at any cost, but for the first of an episode",
      {
        limits: small,
        policy: { ...oneStrike, minimumStrikes: 2 },
      },
      async (caller) => {
        await caller.admit(noon, 3);
        for (const [nowMs, cost, reply] of [
          [noon, 4, "refused 3/3"],
          [noon + 10_000, 4, "refused 3/3"],
          [noon + 10_000, 4, "banned 3/3"],
        ] as const) {
          expect(brief(await caller.extend(nowMs, await caller.admit(nowMs), cost))).toBe(reply);
        }
      },
    );

    const inBetween = { limits: small, policy: { ...oneStrike, graceMs: -1 } };
    rule(
      "give the held unit back to a key that was banned in between, and do not lengthen the ban",
      inBetween,
      async (caller) => {
        const held = await caller.admit(noon);
        const { bannedUntilMs } = await caller.callUntilBanned(noon);
        const decision = await caller.extend(noon + 1, held, 2);
        expect(decision).toMatchObject({ bannedUntilMs });
        expect(brief(decision)).toBe("banned 3/3");
      },
    );

    const wide = { limits: { perMinute: 200, perDay: 1_000 } };
    rule("of 1 unit to 3, 100 at once at a limit of 200: exactly 66 are admitted", wide, async (caller) => {
      const held = await Promise.all(Array.from({ length: 100 }, () => caller.admit(noon)));
      const decisions = await Promise.all(held.map((one) => caller.extend(noon, one, 3)));
      expect(decisions.filter(({ outcome }) => outcome === "admitted")).toHaveLength(66);
      expect(await caller.usage(noon)).toMatchObject({ minute: { used: 198 }, day: { used: 198 } });
    });
  });
}

interface ExtensionCase {
  readonly title: string;
  /** Reservations before the held unit: the instant and the units of each. */
  readonly before?: readonly (readonly [number, number])[];
  readonly heldAtMs?: number;
  /** Units that were spent after the held one, at `nowMs`. */
  readonly since?: number;
  readonly nowMs?: number;
  readonly cost: number;
  readonly reply: string;
}
