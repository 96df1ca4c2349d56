import { describe, expect } from "vitest";
import { limitsOf } from "../../src/quota/plan.js";
import { dayMs, minuteMs } from "../../src/quota/window.js";
import { type Caller, expectReplies, midnight, noon, oneStrike, tomorrow } from "./caller.js";
import type { Rule } from "./rule.js";

const start = noon + 10_000;
const reset = noon + minuteMs;
const limits = { perMinute: 4, perDay: 1_000 };
const free = limitsOf({ plan: "free" });
/** One strike bans, so a ban shows that a refusal was a strike. */
const policy = { minimumStrikes: 1, strikesPerUnit: 0 };
const oneStrikeBans = { limits, policy };
const twoStrikesBan = { limits, policy: { ...policy, minimumStrikes: 2 } };
const oneStrikeBansInDay = { limits: { perMinute: 4, perDay: 8 }, policy };
const quick = { limits, policy: oneStrike };

/** The refusals that count against a key, how many of them ban it, and the length of bans and their effect. */
export function describeBans(rule: Rule): void {
  describe("strikes", () => {
    for (const [nowMs, reply, what] of [
      [start + 1_999, "refused", "in flight at the first refusal, 1,999 ms later"],
      [start + 2_000, "refused", "in flight at the first refusal, 2,000 ms later"],
      [start + 2_001, "banned", "2,001 ms after the first refusal"],
      [reset - 1_001, "banned", "1,001 ms before the reset"],
      [reset - 1_000, "refused", "by a clock that is 1,000 ms fast"],
      [reset - 999, "refused", "by a clock that is 999 ms fast"],
    ] as const) {
      rule(`a call made ${what} is ${reply}, in each episode anew`, oneStrikeBans, async (caller) => {
        await refuseAt(start - minuteMs, caller);
        await refuseAt(start, caller);
        await expectReplies(caller, [nowMs, 1, reply]);
      });
    }

    const withoutEarly = { limits, policy: { ...twoStrikesBan.policy, earlyMs: 0 } };
    rule("strikes end with their episode, at the retry time", withoutEarly, async (caller) => {
      const other = caller.otherAccount();
      for (const each of [caller, other]) {
        await refuseAt(start, each);
        await expectReplies(each, [start + 10_000, 1, "refused"]);
      }
      await expectReplies(other, [reset - 1, 1, "banned"]);
      await expectReplies(caller, [reset, 4, "admitted"], [reset, 1, "refused"]);
      await expectReplies(caller, [reset + 10_000, 1, "refused"], [reset + 10_000, 1, "banned"]);
    });

    rule("an episode ends at the earliest retry time of its refusals", oneStrikeBansInDay, async (caller) => {
      const other = caller.otherAccount();
      for (const each of [caller, other]) {
        await expectReplies(each, [noon - minuteMs, 3, "admitted"], [start, 3, "admitted 3/6"]);
      }
      // 2 units are refused by the minute until its reset, 3 by the day until midnight.
      await expectReplies(caller, [start, 2, "refused"], [start, 3, "refused"], [reset + 10_000, 3, "refused"]);
      await expectReplies(other, [start, 3, "refused"], [start + 1_000, 2, "refused"], [reset, 3, "refused"]);
    });

    const title = "a call just before the minute's reset is forgiven, even if the day refuses";
    rule(title, oneStrikeBansInDay, async (caller) => {
      await expectReplies(caller, [noon - minuteMs, 3, "admitted"], [start, 3, "admitted"], [start, 2, "refused"]);
      await expectReplies(caller, [reset - 1_000, 3, "refused"]);
    });

    rule("an admission does not end the episode", oneStrikeBans, async (caller) => {
      await expectReplies(caller, [noon, 3, "admitted"], [start, 2, "refused"]);
      await expectReplies(caller, [start + 1_000, 1, "admitted"], [start + 10_000, 1, "banned"]);
    });

    const shortDay = { limits: { perMinute: 4, perDay: 4 }, policy };
    rule("an episode of a used-up day ends after 60 s", shortDay, async (first) => {
      for (const [afterMs, reply] of [
        [59_999, "banned"],
        [60_000, "refused"],
      ] as const) {
        const caller = first.otherAccount();
        await refuseAt(midnight, caller);
        await expectReplies(caller, [midnight + afterMs, 1, reply]);
      }
    });

    rule("a request is one strike at any cost, and none above a whole limit", twoStrikesBan, async (caller) => {
      await refuseAt(start, caller);
      const nowMs = start + 10_000;
      await expectReplies(caller, [nowMs, 5, "impossible"], [nowMs, 5, "impossible"]);
      await expectReplies(caller, [nowMs, 4, "refused"], [nowMs, 4, "banned"]);
    });

    rule("one key's strikes are not another's, and without a key nobody is banned", twoStrikesBan, async (caller) => {
      const sibling = caller.sibling();
      for (const each of [caller, sibling]) await refuseAt(start, each);
      for (const each of [caller, sibling]) await expectReplies(each, [start + 10_000, 1, "refused"]);
      expect(await caller.withoutKey().outcomes(start + 10_000, 100)).toEqual(Array(100).fill("refused"));
    });
  });

  describe("ban threshold", () => {
    rule("twice the minute limit in strikes bans, and never fewer than 120", { limits: free }, async (first) => {
      for (const [perMinute, strikes] of [
        [1, 120],
        [60, 120],
        [61, 122],
        [300, 600],
      ] as const) {
        const caller = first.otherAccount().onPlan({ perMinute, perDay: 100_000 });
        await refuseAt(noon, caller);
        expect(await caller.outcomes(start, strikes)).toEqual([...Array(strikes - 1).fill("refused"), "banned"]);
      }
    });

    rule("0 strikes switches bans off", { limits, policy: { minimumStrikes: 0 } }, async (caller) => {
      await refuseAt(start, caller);
      expect(await caller.outcomes(start + 10_000, 500)).toEqual(Array(500).fill("refused"));
    });
  });

  describe("bans", () => {
    rule("a ban is 60 s: over at its end, not 1 ms before", quick, async (caller) => {
      const bannedUntilMs = start + 60_000;
      expect(await caller.callUntilBanned(start)).toMatchObject({
        bannedUntilMs,
        retryAtMs: bannedUntilMs,
        nowMs: start,
        minute: { limit: 4, used: 4, resetAtMs: reset },
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
      await expectReplies(caller.sibling(), [reset, 1, "admitted"]);
      await expectReplies(caller.withoutKey(), [reset, 1, "admitted"]);
      await expectReplies(caller, [reset, 1, "banned 2/6"]);
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

    rule("one decision begins a ban, of any number at once", twoStrikesBan, async (caller) => {
      await refuseAt(start, caller);
      const calls = Array.from({ length: 70 }, () => caller.reserve(start + 10_000));
      const banned = (await Promise.all(calls)).flatMap((decision) =>
        decision.outcome === "banned" ? decision.beginsBan : [],
      );
      expect(banned).toEqual([true, ...Array(68).fill(false)]);
    });
  });

  describe("penalties", () => {
    rule("show the strikes of a key to the end of its episode, and how many ban", { limits }, async (caller) => {
      const sibling = caller.sibling();
      await refuseAt(start, caller);
      expect(await caller.penalties(start, sibling), "no strike yet").toEqual([]);
      await caller.outcomes(start + 10_000, 3);
      const { key } = caller;
      expect(await caller.penalties(reset - 1, sibling)).toEqual([
        { key, sinceMs: reset - 1 - start, strikes: 3, strikesThatBan: 120 },
      ]);
      expect(await caller.penalties(reset)).toEqual([]);
      const large = caller.onPlan({ perMinute: 300, perDay: 1_000 });
      expect(await large.penalties(start + 10_000)).toEqual([
        { key, sinceMs: 10_000, strikes: 3, strikesThatBan: 600 },
      ]);
    });

    rule(
      "show 0 as the strikes that ban if bans are switched off",
      { limits, policy: { minimumStrikes: 0 } },
      async (caller) => {
        await refuseAt(start, caller);
        await caller.outcomes(start + 10_000, 3);
        expect(await caller.penalties(start + 10_000)).toMatchObject([{ strikes: 3, strikesThatBan: 0 }]);
      },
    );

    rule("and bans show a ban while it runs, and not after its lift", quick, async (caller) => {
      const sibling = caller.sibling();
      const { account, key } = caller;
      const { bannedUntilMs } = await caller.callUntilBanned(start);
      await sibling.callUntilBanned(start);
      await caller.otherAccount().callUntilBanned(start);
      await sibling.liftBan(start);
      expect(await caller.penalties(bannedUntilMs - 1, sibling)).toEqual([
        { key, sinceMs: 59_999, bannedUntilMs, strikes: 0, strikesThatBan: 1 },
      ]);
      expect(await caller.bans(bannedUntilMs - 1)).toEqual([{ account, key, bannedUntilMs, sinceMs: 59_999 }]);
      expect([await caller.penalties(bannedUntilMs), await caller.bans(bannedUntilMs)]).toEqual([[], []]);
    });
  });
}

/** Uses the minute up and takes the first refusal of an episode. */
async function refuseAt(nowMs: number, caller: Caller): Promise<void> {
  while ((await caller.reserve(nowMs)).outcome === "admitted");
}
