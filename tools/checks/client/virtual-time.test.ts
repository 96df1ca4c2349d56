// The client in front of the real quota engine, in virtual time.
import { createPetStoreClient } from "@petstore/client";
import { limitsOf } from "@petstore/core";
import { it } from "@petstore/harness/test-with-figures";
import { afterEach, beforeEach, describe, vi } from "vitest";
import { createWitness, startFullSpeed } from "./load.js";
import { createVirtualStore } from "./virtual-store.js";

const free = limitsOf({ plan: "free" });

// Also replaces the timers of Bottleneck.
beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2027, 4, 3, 12), toFake: ["setTimeout", "clearTimeout", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each([1, 2, 3])("in front of the quota engine (seed %i)", (seed) => {
  it.for([
    { who: "one client", clients: 1, minutes: 5, leastShare: 1, mostRefused: 0 },
    { who: "ten clients", clients: 10, minutes: 5, leastShare: 0.95, mostRefused: 100 },
    { who: "forty clients", clients: 40, minutes: 3, leastShare: 0.95, mostRefused: 240 },
  ])(
    "$who on Free use their limit for $minutes minutes, and are not banned",
    async ({ clients: count, minutes, leastShare, mostRefused }, { figures }) => {
      const random = createRandom(seed);
      const { fetch, counts } = createWitness(createVirtualStore(free, random));
      const options = { baseUrl: "http://virtual.invalid/v1", apiKey: "key", fetch, random };
      const stop = startFullSpeed(Array.from({ length: count }, () => createPetStoreClient(options)));
      await vi.advanceTimersByTimeAsync(minutes * 60_000 - 1);
      figures.exactly(0, "failed calls", await stop());
      figures.atLeast(leastShare * minutes * free.perMinute, "admitted requests", counts.successes);
      figures.atMost(mostRefused, "refused requests", counts.refused);
      figures.exactly(0, "bans", counts.bans);
    },
  );
});

/** The same numbers for the same seed (a Lehmer generator). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
