import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { remaining, reportedWindow, retryAfterSeconds } from "../../src/quota/decision.js";
import { type Limits, limitsOf } from "../../src/quota/plan.js";
import { dayMs, minuteMs, type WindowState } from "../../src/quota/window.js";
import { createCaller, noon, openLocal } from "./caller.js";
import { describeQuota } from "./describe-quota.js";
import { play } from "./random/play.js";
import { generators, type Script, scriptPolicy } from "./random/scripts.js";

const limits = { perMinute: 5, perDay: 8 };
/** Scripts per property and generator. A fault planted in the engine is found within a few hundred. */
const numRuns = 300;

describeQuota("local", (banPolicy) => openLocal({ banPolicy }));

it("the memory of the local quota is bounded: it forgets the account that was idle longest", async () => {
  const opened = openLocal({ capacity: 2 });
  const [first, second, third] = [0, 1, 2].map(() => createCaller(opened, limits));
  await first?.reserve(noon, 5);
  await second?.reserve(noon, 5);
  await first?.reserve(noon);
  await third?.reserve(noon, 5);
  expect(await first?.usage(noon), "used last").toMatchObject({ minute: { used: 5 } });
  expect(await second?.usage(noon), "idle longest").toMatchObject({ minute: { used: 0 } });
  expect(await third?.usage(noon), "the newest").toMatchObject({ minute: { used: 5 } });
});

describe.each(generators)("the local quota, in $generator scripts", ({ scripts }) => {
  it("counts exactly the admitted units in each window, and refuses only a cost above what is left", async () => {
    const promise = fc.asyncProperty(scripts.map(onlyReservations), async (script) => {
      const spent = new Map<string, number>();
      const lowest = new Map<string, number>();
      const played = await play(script, [openLocal({ banPolicy: scriptPolicy })], { longestStepBackMs: 0 });
      for (const { account, nowMs, cost, replies } of played) {
        const [reply] = replies;
        if (reply === undefined) continue;
        let left = Number.POSITIVE_INFINITY;
        for (const [length, lengthMs] of [
          ["minute", minuteMs],
          ["day", dayMs],
        ] as const) {
          const { used, limit, resetAtMs }: WindowState = reply[length];
          assert.equal(resetAtMs, (Math.floor(nowMs / lengthMs) + 1) * lengthMs);
          const window = `${account} ${length} ${resetAtMs}`;
          if ("outcome" in reply && reply.outcome === "admitted") spent.set(window, (spent.get(window) ?? 0) + cost);
          assert.equal(used, spent.get(window) ?? 0, "a refusal spends nothing");
          left = Math.min(left, limit - used);
        }
        assert.ok(left >= 0, "more units than a limit");
        if ("outcome" in reply && (reply.outcome === "refused" || reply.outcome === "impossible")) {
          assert.ok(cost > left, "refused although enough units are left");
        }
        const reported = reportedWindow(reply);
        const epoch = `${account} ${reported.resetAtMs}`;
        assert.ok(remaining(reported) <= (lowest.get(epoch) ?? Number.POSITIVE_INFINITY), "Remaining rose");
        lowest.set(epoch, remaining(reported));
      }
    });
    await fc.assert(promise, { numRuns });
  });

  it("admits a refused or banned client that waits for Retry-After, without other traffic", async () => {
    let retries = 0;
    const promise = fc.asyncProperty(scripts, fc.boolean(), async (script, inWholeSeconds) => {
      const opened = openLocal({ banPolicy: scriptPolicy });
      const played = await play(script, [opened], { longestStepBackMs: minuteMs });
      const last = played.findLast(({ call }) => call === "reserve" || call === "extend");
      if (last === undefined || last.cost > Math.min(last.limits.perMinute, last.limits.perDay)) return;
      const decision = await opened.quota.reserve(last);
      if (decision.outcome !== "refused" && decision.outcome !== "banned") return;
      opened.setNow(inWholeSeconds ? decision.nowMs + retryAfterSeconds(decision) * 1_000 : decision.retryAtMs);
      assert.equal((await opened.quota.reserve(last)).outcome, "admitted");
      retries += 1;
    });
    await fc.assert(promise, { numRuns });
    assert.ok(retries > numRuns / 10);
  });
});

/** Callers that ignore every refusal, under the default ban policy, whenever they begin. */
describe("a loop of requests", () => {
  const startsMs = Array.from({ length: 60 }, (_, second) => noon + second * 1_000 + 1);

  it.each([
    [100, 10],
    [10, 60],
  ])("of %i a second is banned on Free within %i s", async (perSecond, seconds) => {
    for (const startMs of startsMs) {
      expect(await loop(startMs, limitsOf({ plan: "free" }), 60 * perSecond, seconds / 60)).toBe("banned");
    }
  });

  it.each(["free", "pro", "business"] as const)("below twice the minute limit is not banned on %s", async (plan) => {
    const { perMinute, perDay } = limitsOf({ plan });
    for (const limits of [
      { perMinute, perDay },
      { perMinute, perDay: 3 * perMinute },
    ]) {
      for (const startMs of startsMs.slice(0, 5)) {
        expect(await loop(startMs, limits, 2 * perMinute - 1, 6)).not.toBe("banned");
      }
    }
  });
});

/** Calls evenly for these minutes, or until a ban. Returns the last outcome. */
async function loop(startMs: number, limits: Limits, perMinute: number, minutes: number): Promise<string> {
  const caller = createCaller(openLocal({}), limits);
  let outcome = "";
  for (let request = 0; request < minutes * perMinute && outcome !== "banned"; request += 1) {
    ({ outcome } = await caller.reserve(startMs + Math.floor((request * minuteMs) / perMinute)));
  }
  return outcome;
}

/** Remaining rises after a refund and on a larger plan. */
function onlyReservations({ startMs, operations }: Script): Script {
  const calls = operations.filter(({ call }) => call === "reserve" || call === "usage");
  return { startMs, operations: calls.map((call) => ({ ...call, limits: calls[0]?.limits ?? call.limits })) };
}
