// The client at full speed: in front of the quota engine in virtual time, and in front of a service in real time.
import { createPetStoreClient, type PetStoreClient } from "@petstore/client";
import {
  createLocalQuota,
  type Decision,
  limitsOf,
  problems,
  remaining,
  reportedWindow,
  retryAfterSeconds,
} from "@petstore/core";
import { it } from "@petstore/harness/test-with-figures";
import { afterEach, beforeEach, describe, inject, vi } from "vitest";
import { openRunningStore, startWithinMinute } from "../conformance/running-store.js";

const limits = limitsOf({ plan: "free" });
/** The time that a request and its response travel together. */
const latencyMs = { least: 20, most: 80 };
/** More calls than a client may send at once, so that it always has one waiting. */
const callsAtOnce = 16;

describe.each([1, 2, 3])("in front of the quota engine (seed %i)", (seed) => {
  // Also replaces the timers of Bottleneck.
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.UTC(2027, 4, 3, 12), toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.for([
    { who: "one client", clients: 1, minutes: 5, leastShare: 1, mostRefused: 0 },
    { who: "ten clients", clients: 10, minutes: 5, leastShare: 0.95, mostRefused: 100 },
    { who: "forty clients", clients: 40, minutes: 3, leastShare: 0.95, mostRefused: 240 },
  ])(
    "$who on Free use their limit for $minutes minutes, and are not banned",
    async ({ clients: count, minutes, leastShare, mostRefused }, { figures }) => {
      const random = createRandom(seed);
      const { counts, fetch } = createVirtualStore(random);
      const options = { baseUrl: "http://virtual.invalid/v1", apiKey: "key", fetch, random };
      const stop = startFullSpeed(Array.from({ length: count }, () => createPetStoreClient(options)));
      await vi.advanceTimersByTimeAsync(minutes * 60_000 - 1);
      figures.exactly(0, "failed calls", (await stop()).failed);
      figures.atLeast(leastShare * minutes * limits.perMinute, "admitted requests", counts.admitted);
      figures.atMost(mostRefused, "refused requests", counts.refused);
      figures.exactly(0, "bans", counts.banned);
    },
  );
});

// Takes too long for `npm test`. Only `npm run client:proof` sets the options.
it.skipIf(inject("projectOptions") === undefined)(
  "ten clients on Free use the limit of a running service for 2 minutes, and are not banned",
  async ({ figures }) => {
    await using store = await openRunningStore({ services: ["rest"] });
    const { key: apiKey } = await store.database.issueKey({ plan: "free" });
    const options = { baseUrl: `${store.originOf("rest")}/v1`, apiKey };
    await startWithinMinute(60_000);
    const stop = startFullSpeed(Array.from({ length: 10 }, () => createPetStoreClient(options)));
    // Ends a second early, so that the next window does not begin.
    await pause(2 * 60_000 - 1_000);
    const { listed, failed } = await stop();
    // After a ban, every call fails.
    figures.exactly(0, "failed calls", failed);
    figures.atLeast(0.95 * 2 * limits.perMinute, "lists", listed);
  },
);

/** Lists pets with every client without a pause. The returned function stops it and returns the numbers of calls. */
function startFullSpeed(clients: readonly PetStoreClient[]) {
  const stopped = new AbortController();
  const counts = { listed: 0, failed: 0 };
  const listRepeatedly = async (client: PetStoreClient): Promise<void> => {
    while (!stopped.signal.aborted) {
      try {
        await client.pets.list({ signal: stopped.signal });
        counts.listed += 1;
      } catch (error) {
        if (error === stopped.signal.reason) break;
        counts.failed += 1;
        // A closed client rejects at once: without a pause this loop would block the process.
        await pause(1_000);
      }
    }
  };
  const calls = clients.flatMap((client) => Array.from({ length: callsAtOnce }, () => listRepeatedly(client)));
  return async () => {
    stopped.abort();
    await Promise.all(calls);
    return counts;
  };
}

/** An empty list of pets behind the quota engine, for one account with one key, as a `fetch` with a network. */
function createVirtualStore(random: () => number) {
  const quota = createLocalQuota({ now: Date.now });
  const counts = { admitted: 0, refused: 0, banned: 0, impossible: 0 };
  const travel = () => pause((latencyMs.least + random() * (latencyMs.most - latencyMs.least)) / 2);
  return {
    counts,
    async fetch(): Promise<Response> {
      await travel();
      const decision = await quota.reserve({ account: "1", key: "1", limits, cost: 1 });
      counts[decision.outcome] += 1;
      const response = respond(decision);
      await travel();
      return response;
    },
  };
}

function respond(decision: Decision): Response {
  const window = reportedWindow(decision);
  const headers = {
    Date: new Date(decision.nowMs).toUTCString(),
    "X-RateLimit-Limit": `${window.limit}`,
    "X-RateLimit-Remaining": `${remaining(window)}`,
    "X-RateLimit-Reset": `${Math.ceil(window.resetAtMs / 1000)}`,
  };
  if (decision.outcome !== "refused" && decision.outcome !== "banned") return new Response("[]", { headers });
  // No test reaches the limit of the day.
  const code = decision.outcome === "banned" ? "API_KEY_BANNED" : "RATE_LIMIT_EXCEEDED";
  const { status, meaning: message } = problems[code];
  return Response.json(
    { code, message, status },
    { status, headers: { ...headers, "Retry-After": `${retryAfterSeconds(decision)}` } },
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The same numbers for the same seed (a Lehmer generator). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
