// Clients of every plan in virtual time, 12 minutes each, under the default ban policy. They honour Retry-After.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { retryAfterSeconds } from "../src/quota/decision.js";
import { createLocalQuota } from "../src/quota/engines/local-quota.js";
import { type Limits, limitsOf } from "../src/quota/plan.js";
import { minuteMs } from "../src/quota/window.js";
import { tomorrow } from "../test/quota/caller.js";

const simulatedMinutes = 12;
/** A run cannot be shrunk: it is one long series of random numbers. */
const integers = fc.noShrink(fc.noBias(fc.infiniteStream(fc.nat(), { noHistory: true })));

describe.each([
  { plan: "free", runs: 600 },
  { plan: "pro", runs: 120 },
  { plan: "business", runs: 60 },
] as const)("in $runs runs on the plan $plan", ({ plan, runs }) => {
  it.each([1, 10, 21, 40, 64, 100, 120])("never bans a key that %i programs share", async (programs) => {
    let refusals = 0;
    const promise = fc.asyncProperty(integers, async (stream) => {
      const random = () => stream.next().value / 2 ** 31;
      const run = await simulate(programs, limitsOf({ plan }), random);
      expect(run.bans).toBe(0);
      refusals += run.refusals;
    });
    await fc.assert(promise, { numRuns: runs });
    expect(refusals).toBeGreaterThan(0);
  });
});

/** The programs do not know of each other. Each sends a request, waits for its response and Retry-After, and repeats. */
async function simulate(programs: number, limits: Limits, random: () => number) {
  // A run starts at a random time of day, often shortly before midnight, often with a day that is used up within some
  // minutes.
  const minutesBefore = random() < 0.3 ? simulatedMinutes * random() : 12 * 60 * random() + simulatedMinutes;
  const minutesLeft = random() < 0.5 ? 6 * random() : Number.POSITIVE_INFINITY;
  const spentOfDay = Math.max(0, Math.floor(limits.perDay - minutesLeft * limits.perMinute));
  const startMs = tomorrow - Math.floor(minutesBefore * minuteMs);
  // In some runs every request costs 1, in others a tenth or half of them cost up to 5.
  const dearer = [0, 0.1, 0.5][Math.floor(3 * random())] ?? 0;
  // Some programs call as fast as they can. Others use the minute up slowly, so that each is refused at another time.
  const longestPauseMs = random() < 0.3 ? 0 : (2 * random() * programs * minuteMs) / limits.perMinute;

  let nowMs = startMs - minuteMs;
  const quota = createLocalQuota({ now: () => Math.floor(nowMs) });
  const reserve = (key: string, cost: number, given = limits) =>
    quota.reserve({ account: "simulated", key, limits: given, cost });
  if (spentOfDay > 0) await reserve("earlier", spentOfDay, { perMinute: limits.perDay, perDay: limits.perDay });

  /** `pauseMs` is the mean pause of a program after a request that is not refused. */
  const arrivals: { readonly atMs: number; readonly pauseMs: number }[] = [];
  const send = (pauseMs: number, sentMs: number) => {
    const atMs = sentMs + networkDelayMs(random);
    arrivals.splice(arrivals.findLastIndex((other) => other.atMs <= atMs) + 1, 0, { atMs, pauseMs });
  };
  for (let started = 0; started < programs; started += 1) {
    send(longestPauseMs * random(), startMs + 5_000 * random());
  }

  const found = { bans: 0, refusals: 0 };
  const endMs = startMs + simulatedMinutes * minuteMs;
  for (let next = arrivals.shift(); next !== undefined && next.atMs < endMs; next = arrivals.shift()) {
    const { atMs, pauseMs } = next;
    nowMs = atMs;
    const decision = await reserve("shared", random() < dearer ? 2 + Math.floor(4 * random()) : 1);
    let waitMs = pauseMs * 2 * random();
    if (decision.outcome === "banned") found.bans += 1;
    if (decision.outcome === "refused") found.refusals += 1;
    if (decision.outcome === "banned" || decision.outcome === "refused") {
      // Timers and clocks are not exact: a program wakes up to 0.9 s early or late.
      waitMs = Math.max(1, retryAfterSeconds(decision) * 1_000 + 1_800 * (random() - 0.5));
    }
    send(pauseMs, atMs + networkDelayMs(random) + waitMs);
  }
  return found;
}

/** A request, or its response, needs some 20 ms, and every hundredth packet is sent again. */
function networkDelayMs(random: () => number): number {
  return 2 - 20 * Math.log(1 - random()) + (random() < 0.01 ? 1_000 * random() : 0);
}
