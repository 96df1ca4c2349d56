// Clients of every plan in virtual time, 12 minutes each, under the default ban policy.
import { it } from "@petstore/harness/test-with-figures";
import { describe, expect } from "vitest";
import { limitsOf } from "../src/quota/plan.js";
import { dayMs, minuteMs } from "../src/quota/window.js";
import { burst, fleet } from "./clients.js";
import { createRandom, type Simulation, simulate } from "./simulation.js";

const midnightMs = Date.UTC(2031, 4, 14);
const simulatedMinutes = 12;
/** A failure names the seeds of its runs. To repeat it, write one of them here. */
const firstSeed = Math.floor(Math.random() * 1_000_000_000);

const clients = [
  { client: "bursts of 64", begin: (simulation: Simulation) => burst(simulation, 64) },
  ...[1, 10, 21, 40, 64, 100].map((size) => ({
    client: `${size} programs with one key`,
    begin: (simulation: Simulation) => fleet(simulation, size),
  })),
];

describe.each([
  { plan: "free", runs: 600 },
  { plan: "pro", runs: 120 },
  { plan: "business", runs: 60 },
] as const)("in $runs runs on the plan $plan", ({ plan, runs }) => {
  it.for(clients)("never bans $client", async ({ begin }, { figures }) => {
    const limits = limitsOf({ plan });
    const banned: number[] = [];
    let refusals = 0;
    for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
      const start = drawStart(seed, limits);
      const endMs = start.startMs + simulatedMinutes * minuteMs;
      await simulate({ limits, seed, ...start, endMs }, begin, ({ outcome }) => {
        if (outcome === "banned" && banned.at(-1) !== seed) banned.push(seed);
        if (outcome === "refused") refusals += 1;
      });
    }
    figures.exactly(0, "runs with a ban", banned.length);
    figures.atLeast(1, "refusals", refusals);
    // The list names the seeds.
    expect(banned).toEqual([]);
  });
});

/** A random time of day, often shortly before midnight, often with a day that is used up within some minutes. */
function drawStart(seed: number, limits: { readonly perMinute: number; readonly perDay: number }) {
  const random = createRandom(seed);
  const minutesBefore = random() < 0.3 ? simulatedMinutes * random() : 12 * 60 * random() + simulatedMinutes;
  const minutesLeft = random() < 0.5 ? 6 * random() : Number.POSITIVE_INFINITY;
  return {
    startMs: midnightMs + dayMs - Math.floor(minutesBefore * minuteMs),
    spentOfDay: Math.max(0, Math.floor(limits.perDay - minutesLeft * limits.perMinute)),
  };
}
