/** Virtual time: what clients and a network do, one instant after the other, with a real quota in the middle. */
import { defaultBanPolicy } from "../src/quota/ban-policy.js";
import type { Decision } from "../src/quota/decision.js";
import { createLocalQuota } from "../src/quota/engines/local-quota.js";
import type { Limits } from "../src/quota/plan.js";
import type { Reservation } from "../src/quota/quota.js";

/** One way of a request or of its answer. */
export type Network = (random: Random) => number;

/** Evenly from 0 up to 1. */
export type Random = () => number;

export interface World {
  readonly random: Random;
  readonly limits: Limits;
  nowMs(): number;
  after(delayMs: number, step: () => void): void;
  /** The answer is there when the request has gone one way, has been decided, and the answer has come back. */
  call(key: string, cost: number, network: Network, answer: (decision: Decision) => void): void;
}

export interface SimulationOptions {
  readonly limits: Limits;
  readonly seed: number;
  readonly startMs: number;
  readonly endMs: number;
  /** Units of the day that are gone before it begins. */
  readonly spentOfDay: number;
  readonly onDecision: (decision: Decision) => void;
}

/** Runs everything that `begin` sets in motion until the end. */
export async function simulate(options: SimulationOptions, begin: (world: World) => void): Promise<void> {
  const { limits, seed, startMs, endMs, spentOfDay, onDecision } = options;
  const agenda: { readonly atMs: number; readonly step: () => void | Promise<void> }[] = [];
  let nowMs = startMs - 60_000;
  const quota = createLocalQuota({ now: () => Math.floor(nowMs), banPolicy: defaultBanPolicy });
  const random = createRandom(seed);

  /** Things of the same instant happen in the order they were put down. */
  function after(delayMs: number, step: () => void | Promise<void>): void {
    const atMs = nowMs + delayMs;
    agenda.splice(agenda.findLastIndex((other) => other.atMs <= atMs) + 1, 0, { atMs, step });
  }

  function call(key: string, cost: number, network: Network, answer: (decision: Decision) => void): void {
    after(network(random), async () => {
      const decision = await quota.reserve(reservation(key, cost));
      onDecision(decision);
      after(network(random), () => answer(decision));
    });
  }

  function reservation(key: string, cost: number): Reservation {
    return { account: "simulated", key, limits, cost };
  }

  if (spentOfDay > 0) {
    const wide = { perMinute: limits.perDay, perDay: limits.perDay };
    await quota.reserve({ ...reservation("earlier", spentOfDay), limits: wide });
  }
  nowMs = startMs;
  begin({ random, limits, nowMs: () => nowMs, after, call });
  for (let next = agenda.shift(); next !== undefined && next.atMs < endMs; next = agenda.shift()) {
    nowMs = next.atMs;
    await next.step();
  }
}

/** mulberry32: small, and the same everywhere. */
export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
