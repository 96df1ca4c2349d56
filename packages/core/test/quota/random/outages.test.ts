import assert from "node:assert/strict";
import fc from "fast-check";
import { afterAll, beforeAll, describe, it, vi } from "vitest";
import type { Decision } from "../../../src/quota/decision.js";
import { dayMs, minuteMs } from "../../../src/quota/window.js";
import { noon } from "../caller.js";
import {
  type Fault,
  type Outages,
  type Request,
  type Simulation,
  simulateOutages,
  unitsIn,
} from "./simulated-outages.js";

/** Orders of steps. A fault planted in the code is found within a few hundred. */
const numRuns = 500;

// The timers of the breakers. Nothing else waits.
beforeAll(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterAll(() => void vi.useRealTimers());

describe("instances that share an account during outages of Redis", () => {
  it.each<Outages>([
    { faults: ["kill", "read-only", "no reply"], instances: 2, unitsEach: 1, maxFaults: 3 },
    { faults: ["kill", "read-only", "no reply"], instances: 3, unitsEach: 1, maxFaults: 3 },
    { faults: ["no reply"], instances: 3, unitsEach: 4, maxFaults: 12 },
    { faults: ["lose data"], instances: 3, unitsEach: 1, maxFaults: 2 },
    { faults: ["two primaries"], instances: 2, unitsEach: 1, maxFaults: 1 },
    { faults: ["two primaries"], instances: 3, unitsEach: 1, maxFaults: 1 },
    {
      faults: ["move", "move before refusal", "other shard lost", "no reply"],
      instances: 2,
      unitsEach: 1,
      maxFaults: 5,
    },
    { faults: ["move", "other shard lost", "kill"], instances: 3, unitsEach: 1, maxFaults: 5 },
  ])("grant at most the bound of the operations guide, and count each unit once: %j", async (outages) => {
    const choices = fc.array(fc.nat(), { minLength: 1, maxLength: 40 * outages.unitsEach, size: "max" });
    const promise = fc.asyncProperty(choices, async (chosen) => {
      const simulation = simulateOutages(outages);
      for (const choice of chosen) {
        await simulation.takeStep(choice);
        checkLimits(outages, simulation);
      }
      await simulation.end();
      vi.clearAllTimers();
      checkLimits(outages, simulation);
      checkCounts(outages, simulation);
      assert.equal(simulation.callsInOutages(), 0);
    });
    await fc.assert(promise, { numRuns });
  });
});

/**
 * The bound is that of the operations guide, and the units of lost calls: Redis never counts them, and their instance cannot know
 * that. Redis counts no unit twice, and no refused request.
 */
function checkLimits(
  { instances, unitsEach, faults, maxFaults }: Outages,
  { requests: ofInstances, counted }: Simulation,
): void {
  const requests = ofInstances.flat();
  for (const [window, resetAtMs, limit, factor] of [
    // No instance has served the account in the minute before.
    ["minute", noon + minuteMs, unitsEach * instances, 2 - 1 / instances],
    ["minute", noon + 2 * minuteMs, unitsEach * instances, 3 - 2 / instances],
    ["day", noon + dayMs / 2, 2 * unitsEach * instances, 2.5 - 2 / instances],
  ] as const) {
    const units = (request: Request, decision?: Decision) => unitsIn(window, resetAtMs, request, decision);
    const isFallback = (answer?: Decision) => answer?.mode === "fallback" && answer[window].resetAtMs === resetAtMs;
    let most = limit;
    if (mayLoseUnits(faults)) most = limit * (factor + maxFaults);
    else if (requests.some(({ answer }) => isFallback(answer))) most = limit * factor;
    const lost = requests.filter(({ call }) => call?.isLost).map((request) => carried(window, resetAtMs, request));
    most += sum(lost);
    const granted = sum(requests.map((request) => units(request, request.answer)));
    assert.ok(granted <= most, `${granted} units of a ${window} were granted, more than ${most}`);
    const { used, resetAtMs: countedUntilMs } = counted()[window];
    const spent = sum(
      requests.map((request) => Math.max(units(request, request.answer), units(request, request.call?.executed))),
    );
    assert.ok(resetAtMs !== countedUntilMs || used <= spent, `Redis counts ${used} units, more than ${spent}`);
  }
}

/** The units in a window that the call of a request carried to Redis: its own, and those that its report owed. */
function carried(window: "minute" | "day", resetAtMs: number, request: Request): number {
  const reported = request.call?.report?.[window];
  const owed = reported?.resetAtMs === resetAtMs ? reported.owedUnits : 0;
  return unitsIn(window, resetAtMs, request, request.answer) + owed;
}

/**
 * The counts that an instance gets from Redis never fall. Unless Redis lost units itself, it counts every granted unit, except
 * those of calls without a reply.
 */
function checkCounts({ faults }: Outages, { requests, counted }: Simulation): void {
  for (const window of ["minute", "day"] as const) {
    const { used, resetAtMs } = counted()[window];
    const units = (request: Request, decision?: Decision) => unitsIn(window, resetAtMs, request, decision);
    let certain = 0;
    for (const ofInstance of requests) {
      let reported = 0;
      for (const request of ofInstance) {
        const { answer, call } = request;
        if (answer?.mode === "shared" && answer[window].resetAtMs === resetAtMs) {
          const least = reported + units(request, answer);
          reported = answer[window].used;
          assert.ok(reported >= least, `Redis reported ${reported} units of a ${window}, fewer than ${least}`);
        }
        // Other instances may have raised Redis to the count that a call without a reply would have raised it to.
        const answered = units(request, answer);
        certain += call === undefined ? answered : Math.min(answered, units(request, call.executed));
        const lost = call?.isLost ? call.report?.[window] : undefined;
        if (lost?.resetAtMs === resetAtMs) certain -= lost.owedUnits;
      }
    }
    assert.ok(mayLoseUnits(faults) || used >= certain, `Redis counts ${used} units, fewer than ${certain}`);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function mayLoseUnits(faults: readonly Fault[]): boolean {
  return faults.includes("lose data") || faults.includes("two primaries");
}
