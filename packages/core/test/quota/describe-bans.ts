import { describe, expect } from "vitest";
import { dayMs, minuteMs } from "../../src/quota/window.js";
import { expectReplies, noon, oneStrike, tomorrow } from "./caller.js";
import type { Rule } from "./describe-quota.js";

const start = noon + 5_000;
const limits = { perMinute: 4, perDay: 1_000 };
const quick = { limits, policy: oneStrike };

/** The length of bans and their effect. */
export function describeBans(rule: Rule): void {
  describe("bans", () => {
    rule("a ban is 60 s: over at its end, not 1 ms before", quick, async (caller) => {
      const bannedUntilMs = start + 60_000;
      expect(await caller.callUntilBanned(start)).toMatchObject({
        bannedUntilMs,
        retryAtMs: bannedUntilMs,
        nowMs: start,
        minute: { limit: 4, used: 4, resetAtMs: noon + minuteMs },
        day: { limit: 1_000, used: 4, resetAtMs: tomorrow },
      });
      await expectReplies(caller, [bannedUntilMs - 1, 5, "banned"], [bannedUntilMs, 1, "admitted"]);
    });

    rule("each further ban is twice as long, to an hour at most", quick, async (caller) => {
      let nowMs = start;
      const seconds: number[] = [];
      for (let ban = 0; ban < 8; ban += 1) {
        const { bannedUntilMs } = await caller.callUntilBanned(nowMs);
        seconds.push((bannedUntilMs - nowMs) / 1_000);
        nowMs = bannedUntilMs;
      }
      expect(seconds).toEqual([60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
    });

    rule("its level is forgotten 24 h after the end of the last ban", quick, async (first) => {
      for (const [afterMs, seconds] of [
        [dayMs - 1, [60, 120, 240]],
        [dayMs, [60, 60, 60]],
        [dayMs + 1, [60, 60, 60]],
      ] as const) {
        const caller = first.otherAccount();
        const lengths: number[] = [];
        for (let nowMs = start; lengths.length < 3; ) {
          const { bannedUntilMs } = await caller.callUntilBanned(nowMs);
          lengths.push((bannedUntilMs - nowMs) / 1_000);
          nowMs = bannedUntilMs + afterMs;
        }
        expect(lengths, `${afterMs} ms`).toEqual(seconds);
      }
    });

    rule("requests during a ban never lengthen it, and spend nothing", quick, async (caller) => {
      const { bannedUntilMs } = await caller.callUntilBanned(start);
      for (let second = 1; second < 60; second += 1) {
        const decision = await caller.reserve(start + second * 1_000);
        expect(decision).toMatchObject({ outcome: "banned", bannedUntilMs, day: { used: 4 } });
      }
      expect(await caller.outcomes(bannedUntilMs, 5)).toEqual([...Array(4).fill("admitted"), "refused"]);
    });

    rule("a banned key's sibling key still works", quick, async (caller) => {
      await caller.callUntilBanned(start);
      await expectReplies(caller.sibling(), [noon + minuteMs, 1, "admitted"]);
      await expectReplies(caller.withoutKey(), [noon + minuteMs, 1, "admitted"]);
      await expectReplies(caller, [noon + minuteMs, 1, "banned 2/6"]);
    });

    rule("liftBan ends a ban at once and forgets its level, its strikes and nothing else", quick, async (caller) => {
      const sibling = caller.sibling();
      await caller.liftBan(start);
      await caller.callUntilBanned(start);
      await sibling.callUntilBanned(start);
      await caller.liftBan(start);
      await expectReplies(caller, [start, 1, "refused 4/4"]);
      await expectReplies(sibling, [start, 1, "banned"]);
      await caller.liftBan(start + 10_000);
      await expectReplies(caller, [start + 10_000, 1, "refused"]);
      const again = await caller.callUntilBanned(start + 10_000);
      expect(again.bannedUntilMs - again.nowMs).toBe(60_000);
    });

    rule("liftBan leaves a ban and strikes that began after the lift, however late it is", quick, async (caller) => {
      const { bannedUntilMs } = await caller.callUntilBanned(start);
      await caller.liftBan(start + 30_000, 30_001);
      await expectReplies(caller, [start + 30_000, 1, "banned"]);
      await caller.liftBan(start + 30_000, 30_000);
      await expectReplies(caller, [start + 30_000, 1, "refused 4/4"]);
      await caller.liftBan(start + 40_000, 10_001);
      await expectReplies(caller, [start + 40_000, 1, "banned"]);
      await caller.liftBan(bannedUntilMs, bannedUntilMs - start);
      await expectReplies(caller, [bannedUntilMs, 1, "banned"]);
    });

    rule("usage reports the ban of a key while it runs", quick, async (caller) => {
      expect(await caller.usage(start)).not.toHaveProperty("bannedUntilMs");
      const { bannedUntilMs } = await caller.callUntilBanned(start);
      expect(await caller.usage(bannedUntilMs - 1)).toMatchObject({ bannedUntilMs, day: { used: 4 } });
      expect(await caller.usage(bannedUntilMs)).not.toHaveProperty("bannedUntilMs");
      expect(await caller.sibling().usage(start)).not.toHaveProperty("bannedUntilMs");
    });
  });
}
