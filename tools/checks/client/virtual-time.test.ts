// The client in front of the real quota engine, in virtual time.
import { createPetStoreClient, type Fetch, type PetStoreClient } from "@petstore/client";
import { limitsOf } from "@petstore/core";
import { createLedger } from "@petstore/harness/responses";
import { it } from "@petstore/harness/test-with-figures";
import { afterEach, beforeEach, describe, vi } from "vitest";
import { createPets, startFullSpeed } from "./load.js";
import { createVirtualStore } from "./virtual-store.js";
import { createWitness } from "./witness.js";

const free = limitsOf({ plan: "free" });

// Also replaces the timers of Bottleneck.
beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2027, 4, 3, 12), toFake: ["setTimeout", "clearTimeout", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each([1, 2, 3, 4, 5])("in front of the quota engine (seed %i)", (seed) => {
  it.for([
    { who: "one client", clients: 1, minutes: 5, leastShare: 1, mostRefused: 0 },
    { who: "ten clients", clients: 10, minutes: 5, leastShare: 0.95, mostRefused: 100 },
    { who: "forty clients", clients: 40, minutes: 3, leastShare: 0.95, mostRefused: 240 },
  ])(
    "$who on Free use their limit for $minutes minutes, and are not banned",
    async ({ clients, minutes, leastShare, mostRefused }, { figures }) => {
      const random = createRandom(seed);
      const { fetch, counts } = createWitness(createVirtualStore(free, random).fetch);
      const stop = startFullSpeed(Array.from({ length: clients }, () => openClient(fetch, random)));
      await vi.advanceTimersByTimeAsync(minutes * 60_000 - 1);
      figures.exactly(0, "failed calls", await stop());
      figures.atLeast(leastShare * minutes * free.perMinute, "admitted requests", counts.successes);
      figures.atMost(mostRefused, "refused requests", counts.refused);
      figures.exactly(0, "bans", counts.bans);
    },
  );

  it("loses no pet and creates none twice when the service is killed for 10 s", async ({ figures }) => {
    const random = createRandom(seed);
    const store = createVirtualStore({ perMinute: 1_000, perDay: 100_000 }, random);
    const ledger = createLedger();
    const creating = createPets(openClient(store.fetch, random), ledger, 400, 50);
    await vi.advanceTimersByTimeAsync(1_000);
    store.kill();
    await vi.advanceTimersByTimeAsync(10_000);
    store.restart();
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    await creating;
    const { acknowledged, duplicates, lost } = ledger.compare(store.stored);
    figures.exactly(400, "acknowledged pets", acknowledged);
    figures.exactly(0, "duplicate pets", duplicates);
    figures.exactly(0, "lost pets", lost);
  });
});

function openClient(fetch: Fetch, random: () => number): PetStoreClient {
  return createPetStoreClient({ baseUrl: "http://virtual.invalid/v1", apiKey: "key", fetch, random });
}

/** The same numbers for the same seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
