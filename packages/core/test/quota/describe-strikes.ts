import { describe, expect } from "vitest";
import { limitsOf } from "../../src/quota/plan.js";
import { minuteMs } from "../../src/quota/window.js";
import { type Caller, expectReplies, midnight, noon } from "./caller.js";
import type { Rule } from "./describe-quota.js";

const start = noon + 10_000;
const reset = noon + minuteMs;
const limits = { perMinute: 4, perDay: 1_000 };
const free = limitsOf({ plan: "free" });
/** One strike bans, so a ban shows that a refusal was a strike. */
const policy = { minimumStrikes: 1, strikesPerUnit: 0 };
const oneStrike = { limits, policy };
const twoStrikes = { limits, policy: { ...policy, minimumStrikes: 2 } };
const oneStrikeInDay = { limits: { perMinute: 4, perDay: 8 }, policy };

/** The refusals that count against a key, and how many of them ban it. */
export function describeStrikes(rule: Rule): void {
  describe("strikes", () => {
    for (const [nowMs, reply, what] of [
      [start + 1_999, "refused", "in flight at the first refusal, 1,999 ms later"],
      [start + 2_000, "refused", "in flight at the first refusal, 2,000 ms later"],
      [start + 2_001, "banned", "2,001 ms after the first refusal"],
      [reset - 1_001, "banned", "1,001 ms before the reset"],
      [reset - 1_000, "refused", "by a clock that is 1,000 ms fast"],
      [reset - 999, "refused", "by a clock that is 999 ms fast"],
    ] as const) {
      rule(`a call made ${what} is ${reply}, in each episode anew`, oneStrike, async (caller) => {
        await refuseAt(start - minuteMs, caller);
        await refuseAt(start, caller);
        await expectReplies(caller, [nowMs, 1, reply]);
      });
    }

    const withoutEarly = { limits, policy: { ...twoStrikes.policy, earlyMs: 0 } };
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

    rule("an episode ends at the earliest retry time of its refusals", oneStrikeInDay, async (caller) => {
      const other = caller.otherAccount();
      for (const each of [caller, other]) {
        await expectReplies(each, [noon - minuteMs, 3, "admitted"], [start, 3, "admitted 3/6"]);
      }
      // 2 units are refused by the minute until its reset, 3 by the day until midnight.
      await expectReplies(caller, [start, 2, "refused"], [start, 3, "refused"], [reset + 10_000, 3, "refused"]);
      await expectReplies(other, [start, 3, "refused"], [start + 1_000, 2, "refused"], [reset, 3, "refused"]);
    });

    const title = "a call just before the minute's reset is forgiven, even if the day refuses";
    rule(title, oneStrikeInDay, async (caller) => {
      await expectReplies(caller, [noon - minuteMs, 3, "admitted"], [start, 3, "admitted"], [start, 2, "refused"]);
      await expectReplies(caller, [reset - 1_000, 3, "refused"]);
    });

    rule("an admission does not end the episode", oneStrike, async (caller) => {
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

    rule("a request is one strike at any cost, and none above a whole limit", twoStrikes, async (caller) => {
      await refuseAt(start, caller);
      const nowMs = start + 10_000;
      await expectReplies(caller, [nowMs, 5, "impossible"], [nowMs, 5, "impossible"]);
      await expectReplies(caller, [nowMs, 4, "refused"], [nowMs, 4, "banned"]);
    });

    rule("one key's strikes are not another's, and without a key nobody is banned", twoStrikes, async (caller) => {
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
}

/** Uses the minute up and takes the first refusal of an episode. */
async function refuseAt(nowMs: number, caller: Caller): Promise<void> {
  while ((await caller.reserve(nowMs)).outcome === "admitted");
}
