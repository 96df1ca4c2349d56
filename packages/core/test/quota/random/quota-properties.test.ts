import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "vitest";
import { remaining, reportedWindow, retryAfterSeconds } from "../../../src/quota/decision.js";
import { dayMs, minuteMs, type WindowState } from "../../../src/quota/window.js";
import { openLocal } from "../caller.js";
import { play } from "./play.js";
import { generators, type Script, scriptPolicy } from "./scripts.js";

/** Scripts per property and generator. A fault planted in the engine is found within a few hundred. */
const numRuns = 300;

describe.each(generators)("local quota, $generator scripts", ({ scripts }) => {
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

/** Remaining rises after a refund and on a larger plan. */
function onlyReservations({ startMs, operations }: Script): Script {
  const calls = operations.filter(({ call }) => call === "reserve" || call === "usage");
  return { startMs, operations: calls.map((call) => ({ ...call, limits: calls[0]?.limits ?? call.limits })) };
}
