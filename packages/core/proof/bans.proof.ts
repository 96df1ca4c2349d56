// Clients of every plan in virtual time, 12 minutes each, under the default ban policy. They honour Retry-After.
import { it } from "@petstore/harness/test-with-figures";
import { describe, expect } from "vitest";
import { retryAfterSeconds } from "../src/quota/decision.js";
import { createLocalQuota } from "../src/quota/engines/local-quota.js";
import { type Limits, limitsOf } from "../src/quota/plan.js";
import { minuteMs } from "../src/quota/window.js";
import { tomorrow } from "../test/quota/caller.js";

const simulatedMinutes = 12;
/** A failure names the seeds of its runs. To repeat it, write one of them here. */
const firstSeed = Math.floor(Math.random() * 1_000_000_000);

/**
 * `size` programs with one key that know nothing of each other. Each sends `width` requests at once, waits for all responses
 * and for the longest Retry-After among them, and repeats.
 */
interface Fleet {
  readonly client: string;
  readonly size: number;
  readonly width: number;
}

/** The requests that a program sends at once. */
interface Burst {
  /** The mean pause of the program after a burst without a refusal. */
  readonly pauseMs: number;
  requestsInFlight: number;
  lastReplyMs: number;
  waitMs: number;
}

const fleets: Fleet[] = [
  { client: "bursts of 64", size: 1, width: 64 },
  ...[1, 10, 21, 40, 64, 100].map((size) => ({ client: `${size} programs with one key`, size, width: 1 })),
];

describe.each([
  { plan: "free", runs: 600 },
  { plan: "pro", runs: 120 },
  { plan: "business", runs: 60 },
] as const)("in $runs runs on the plan $plan", ({ plan, runs }) => {
  it.for(fleets)("never bans $client", async (fleet, { figures }) => {
    const banned: number[] = [];
    let refusals = 0;
    for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
      const run = await simulate(fleet, limitsOf({ plan }), seed);
      if (run.bans > 0) banned.push(seed);
      refusals += run.refusals;
    }
    figures.exactly(0, "runs with a ban", banned.length);
    figures.atLeast(1, "refusals", refusals);
    // The list names the seeds.
    expect(banned).toEqual([]);
  });
});

async function simulate({ size, width }: Fleet, limits: Limits, seed: number) {
  const random = createRandom(seed);
  // A run starts at a random time of day, often shortly before midnight, often with a day that is used up within some
  // minutes.
  const minutesBefore = random() < 0.3 ? simulatedMinutes * random() : 12 * 60 * random() + simulatedMinutes;
  const minutesLeft = random() < 0.5 ? 6 * random() : Number.POSITIVE_INFINITY;
  const spentOfDay = Math.max(0, Math.floor(limits.perDay - minutesLeft * limits.perMinute));
  const startMs = tomorrow - Math.floor(minutesBefore * minuteMs);
  // In some runs every request costs 1, in others a tenth or half of them cost up to 5.
  const dearer = [0, 0.1, 0.5][Math.floor(3 * random())] ?? 0;
  // Some fleets call as fast as they can. Others use their minute up slowly, so that each program is refused at another time.
  const longestPauseMs = random() < 0.3 ? 0 : (2 * random() * size * minuteMs) / limits.perMinute;

  let nowMs = startMs - minuteMs;
  const quota = createLocalQuota({ now: () => Math.floor(nowMs) });
  const reserve = (key: string, cost: number, given = limits) =>
    quota.reserve({ account: "simulated", key, limits: given, cost });
  if (spentOfDay > 0) await reserve("earlier", spentOfDay, { perMinute: limits.perDay, perDay: limits.perDay });

  const arrivals: { readonly atMs: number; readonly burst: Burst }[] = [];
  const send = (pauseMs: number, sentMs: number) => {
    const burst = { pauseMs, requestsInFlight: width, lastReplyMs: 0, waitMs: 0 };
    for (let request = 0; request < width; request += 1) {
      const atMs = sentMs + networkDelayMs(random);
      arrivals.splice(arrivals.findLastIndex((other) => other.atMs <= atMs) + 1, 0, { atMs, burst });
    }
  };
  for (let started = 0; started < size; started += 1) {
    send(width > 1 ? 100 : longestPauseMs * random(), startMs + 5_000 * random());
  }

  const found = { bans: 0, refusals: 0 };
  const endMs = startMs + simulatedMinutes * minuteMs;
  for (let next = arrivals.shift(); next !== undefined && next.atMs < endMs; next = arrivals.shift()) {
    const { atMs, burst } = next;
    nowMs = atMs;
    const decision = await reserve("shared", random() < dearer ? 2 + Math.floor(4 * random()) : 1);
    if (decision.outcome === "banned") found.bans += 1;
    if (decision.outcome === "refused") found.refusals += 1;
    if (decision.outcome === "banned" || decision.outcome === "refused") {
      // Timers and clocks are not exact: a program wakes up to 0.9 s early or late.
      const waitMs = retryAfterSeconds(decision) * 1_000 + 1_800 * (random() - 0.5);
      burst.waitMs = Math.max(1, burst.waitMs, waitMs);
    }
    burst.lastReplyMs = Math.max(burst.lastReplyMs, atMs + networkDelayMs(random));
    burst.requestsInFlight -= 1;
    if (burst.requestsInFlight === 0) {
      send(burst.pauseMs, burst.lastReplyMs + (burst.waitMs || burst.pauseMs * 2 * random()));
    }
  }
  return found;
}

/** A request, or its response, needs some 20 ms, and every hundredth packet is sent again. */
function networkDelayMs(random: () => number): number {
  return 2 - 20 * Math.log(1 - random()) + (random() < 0.01 ? 1_000 * random() : 0);
}

/** mulberry32: evenly from 0 up to 1, small, and the same on every machine. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
