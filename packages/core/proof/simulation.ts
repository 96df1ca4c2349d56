/** Virtual time: clients and a network around a real quota, one instant after the other. */
import { defaultBanPolicy } from "../src/quota/ban-policy.js";
import type { Decision } from "../src/quota/decision.js";
import { createLocalQuota } from "../src/quota/engines/local-quota.js";
import type { Limits } from "../src/quota/plan.js";

/** Evenly from 0 up to 1. */
export type Random = () => number;

export interface Simulation {
  readonly random: Random;
  readonly limits: Limits;
  after(delayMs: number, step: () => void): void;
  /** Sends a request, decides it when it arrives, and calls `answer` when the response has come back. */
  call(cost: number, answer: (decision: Decision) => void): void;
}

interface SimulationOptions {
  readonly limits: Limits;
  readonly seed: number;
  readonly startMs: number;
  readonly endMs: number;
  /** Units of the day that are spent before the start. */
  readonly spentOfDay: number;
}

/** Runs all steps that `begin` schedules, and their steps, until the end. */
export async function simulate(
  { limits, seed, startMs, endMs, spentOfDay }: SimulationOptions,
  begin: (simulation: Simulation) => void,
  onDecision: (decision: Decision) => void,
): Promise<void> {
  const steps: { readonly atMs: number; readonly step: () => void | Promise<void> }[] = [];
  let nowMs = startMs - 60_000;
  const quota = createLocalQuota({ now: () => Math.floor(nowMs), banPolicy: defaultBanPolicy });
  const random = createRandom(seed);

  /** Steps of the same instant run in the order in which they were scheduled. */
  function after(delayMs: number, step: () => void | Promise<void>): void {
    const atMs = nowMs + delayMs;
    steps.splice(steps.findLastIndex((other) => other.atMs <= atMs) + 1, 0, { atMs, step });
  }

  function call(cost: number, answer: (decision: Decision) => void): void {
    after(networkDelayMs(random), async () => {
      const decision = await quota.reserve({ account: "simulated", key: "shared", limits, cost });
      onDecision(decision);
      after(networkDelayMs(random), () => answer(decision));
    });
  }

  if (spentOfDay > 0) {
    const wide = { perMinute: limits.perDay, perDay: limits.perDay };
    await quota.reserve({ account: "simulated", key: "earlier", limits: wide, cost: spentOfDay });
  }
  nowMs = startMs;
  begin({ random, limits, after, call });
  for (let next = steps.shift(); next !== undefined && next.atMs < endMs; next = steps.shift()) {
    nowMs = next.atMs;
    await next.step();
  }
}

/** A request, or its response, needs some 20 ms, and every hundredth packet is sent again. */
function networkDelayMs(random: Random): number {
  return 2 - 20 * Math.log(1 - random()) + (random() < 0.01 ? 1_000 * random() : 0);
}

/** mulberry32: small, and the same on every machine. */
export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
