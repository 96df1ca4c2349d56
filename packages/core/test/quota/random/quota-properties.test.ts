import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "vitest";
import { type Decision, remaining, reportedWindow, retryAfterSeconds } from "../../../src/quota/decision.js";
import { createLocalQuota } from "../../../src/quota/engines/local-quota.js";
import { dayMs, minuteMs, type WindowState } from "../../../src/quota/window.js";
import { type OpenedQuota, openAtVirtualTime } from "../caller.js";
import { describeQuota } from "../describe-quota.js";
import { createNaiveQuota } from "./naive-quota.js";
import { type Call, generators, type Operation, type Played, play, type Script, scriptPolicy } from "./operations.js";
import type { Move } from "./virtual-clock.js";

/** Scripts per property and generator. A fault planted in the engine is found within a few hundred. */
const runs = 500;

const midnight = Date.UTC(2031, 4, 14);

// The model that judges the engines keeps their promises itself.
describeQuota("naive", "local", async (banPolicy) =>
  openAtVirtualTime(({ now }) => createNaiveQuota({ now, banPolicy })),
);

describe.each(generators)("local quota, $generator scripts", { timeout: 60_000 }, ({ scripts }) => {
  it("replies like a model that keeps the whole history", async () => {
    await holds(scripts, async (script) => {
      const played = await play(script, [openLocal(), openNaive()], { fallBackMs: 2 * dayMs });
      for (const { replies, ...call } of played) {
        assert.deepEqual({ ...call, reply: replies[0] }, { ...call, reply: replies[1] });
      }
    });
  });

  it("never grants more units in a window than its limit", async () => {
    await holds(
      scripts.map((script) => withOnly(script, "reserve", "extend", "usage")),
      async (script) => {
        const granted = new Map<string, number>();
        for (const { decision, account, limits, cost, heldIn } of decisions(await playLocal(script, minuteMs))) {
          for (const [length, limit] of [
            ["minute", limits.perMinute],
            ["day", limits.perDay],
          ] as const) {
            const add = ({ resetAtMs }: WindowState, units: number) => {
              const window = `${account} ${length} ${resetAtMs}`;
              const sum = (granted.get(window) ?? 0) + units;
              granted.set(window, sum);
              assert.ok(sum <= limit, `${sum} units granted in ${window}`);
            };
            if (heldIn !== undefined) add(heldIn[length], -1);
            if (decision.outcome === "admitted") add(decision[length], cost);
          }
        }
      },
    );
  });

  it("spends exactly the admitted units, in both windows", async () => {
    await holds(scripts.map(withUsageQueries), async (script) => {
      const played = await playLocal(script, 2 * dayMs);
      for (const [index, { call, cost, replies }] of played.entries()) {
        if (call !== "reserve") continue;
        const [before, decision, after] = [played[index - 1]?.replies[0], replies[0], played[index + 1]?.replies[0]];
        assert.ok(before && decision && after && "outcome" in decision);
        const spent = decision.outcome === "admitted" ? cost : 0;
        for (const length of ["minute", "day"] as const) {
          assert.deepEqual(after[length], { ...before[length], used: before[length].used + spent });
          assert.deepEqual(decision[length], after[length]);
        }
      }
    });
  });

  it("never lets the reported Remaining rise within one Reset", async () => {
    await holds(
      scripts.map((script) => withOnly(script, "reserve", "usage")),
      async (script) => {
        const lowest = new Map<string, number>();
        for (const { account, replies } of await playLocal(script, minuteMs)) {
          const [reply] = replies;
          if (reply === undefined) continue;
          const reported = reportedWindow(reply);
          const epoch = `${account} ${reported.resetAtMs}`;
          assert.ok(
            remaining(reported) <= (lowest.get(epoch) ?? Number.POSITIVE_INFINITY),
            `Remaining rose in ${epoch}`,
          );
          lowest.set(epoch, remaining(reported));
        }
      },
    );
  });

  it("reports one Reset for all of a window: the first instant of the next one", async () => {
    await holds(scripts, async (script) => {
      for (const { nowMs, replies } of await playLocal(script, 0)) {
        const [reply] = replies;
        if (reply === undefined) continue;
        assert.equal(reply.nowMs, nowMs);
        assert.equal(reply.minute.resetAtMs, (Math.floor(nowMs / minuteMs) + 1) * minuteMs);
        assert.equal(reply.day.resetAtMs, (Math.floor(nowMs / dayMs) + 1) * dayMs);
      }
    });
  });

  it("admits a refused or banned client that waits for Retry-After, without other traffic", async () => {
    await holds(fc.tuple(scripts, fc.boolean()), async ([script, inWholeSeconds]) => {
      const opened = openLocal();
      const last = decisions(await play(script, [opened], { fallBackMs: minuteMs })).at(-1);
      if (last === undefined || last.cost > Math.min(last.limits.perMinute, last.limits.perDay)) return;
      const decision = await opened.quota.reserve(last);
      if (decision.outcome !== "refused" && decision.outcome !== "banned") return;
      opened.setNow(inWholeSeconds ? decision.nowMs + retryAfterSeconds(decision) * 1_000 : decision.retryAtMs);
      assert.equal((await opened.quota.reserve(last)).outcome, "admitted");
    });
  });
});

describe("local quota under enough demand", { timeout: 60_000 }, () => {
  it("grants every unit of both windows", async () => {
    const demand = fc.record({
      limits: fc.record({ perMinute: fc.integer({ min: 1, max: 40 }), perDay: fc.integer({ min: 1, max: 150 }) }),
      minutes: fc.integer({ min: 1, max: 6 }),
      surplus: fc.array(fc.nat({ max: minuteMs - 1 }), { maxLength: 30 }),
      offsetMs: fc.nat({ max: minuteMs - 1 }),
    });
    await holds(demand, async ({ limits, minutes, surplus, offsetMs }) => {
      const { quota, setNow } = openLocal();
      const needed = Array.from({ length: limits.perMinute }, () => offsetMs);
      const instants = [...needed, ...surplus].sort((left, right) => left - right);
      let left = limits.perDay;
      for (let minute = 0; minute < minutes; minute += 1) {
        let granted = 0;
        for (const instantMs of instants) {
          setNow(midnight + minute * minuteMs + instantMs);
          if ((await quota.reserve({ account: "busy", limits, cost: 1 })).outcome === "admitted") granted += 1;
        }
        assert.equal(granted, Math.min(limits.perMinute, left));
        left -= granted;
      }
    });
  });
});

function holds<Input>(inputs: fc.Arbitrary<Input>, promise: (input: Input) => Promise<void>): Promise<void> {
  return fc.assert(fc.asyncProperty(inputs, promise), { numRuns: runs });
}

function openLocal(): OpenedQuota {
  return openAtVirtualTime(({ now }) => createLocalQuota({ now, banPolicy: scriptPolicy, capacity: 8 }));
}

function openNaive(): OpenedQuota {
  return openAtVirtualTime(({ now }) => createNaiveQuota({ now, banPolicy: scriptPolicy }));
}

function playLocal(script: Script, fallBackMs: number): Promise<Played[]> {
  return play(script, [openLocal()], { fallBackMs });
}

function decisions(played: readonly Played[]): (Played & { readonly decision: Decision })[] {
  return played.flatMap((one) => {
    const [decision] = one.replies;
    return decision !== undefined && "outcome" in decision ? [{ ...one, decision }] : [];
  });
}

/** The script with every reservation made alone, and the usage read before and after it. */
function withUsageQueries({ operations, ...script }: Script): Script {
  const query = ({ account, key }: Operation, move: Move): Operation => ({ call: "usage", account, key, move });
  const atOnce = { waitMs: 0 };
  return {
    ...script,
    operations: operations.flatMap((operation) => {
      if (operation.call !== "reserve") return [operation];
      return [query(operation, operation.move), { ...operation, times: 1, move: atOnce }, query(operation, atOnce)];
    }),
  };
}

/** The script with these calls only. */
function withOnly({ operations, ...script }: Script, ...calls: readonly Call["call"][]): Script {
  return { ...script, operations: operations.filter(({ call }) => calls.includes(call)) };
}
