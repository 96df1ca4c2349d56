// The client in front of the running service.
import { randomUUID } from "node:crypto";
import { createPetStoreClient, serviceErrorCodes } from "@petstore/client";
import { limitsOf, problems } from "@petstore/core";
import { shared } from "@petstore/harness";
import { it } from "@petstore/harness/test-with-figures";
import { expect, inject, vi } from "vitest";
import { openRunningStore, startWithinMinute } from "../conformance/running-store.js";
import { createWitness, startFullSpeed } from "./load.js";

const store = await shared(openRunningStore({ services: ["rest"] }));
const baseUrl = `${store.originOf("rest")}/v1`;

it("knows every code that the REST API answers, and no other", () => {
  const codes = Object.keys(problems).filter((code) => !/^(GRAPHQL|PERSISTED_QUERY)_/.test(code));
  expect([...serviceErrorCodes].sort()).toEqual(codes.sort());
});

it("stores every pet once when responses are lost and the service is killed", async ({ figures }) => {
  const { key: apiKey } = await store.database.issueKey();
  const answered = new Set<string>();
  const { fetch, counts } = createWitness(globalThis.fetch, (idempotencyKey) => {
    const isFirst = !answered.has(idempotencyKey);
    answered.add(idempotencyKey);
    return isFirst && answered.size % 10 === 0;
  });
  // The retries last longer than a slow machine needs to start the service.
  const client = createPetStoreClient({ baseUrl, apiKey, fetch, random: () => 0.5, maxRetries: 8 });
  const names = Array.from({ length: 150 }, () => randomUUID());
  const creating = Promise.all(names.map((name) => client.pets.create({ name, categoryId: 1 })));
  await vi.waitUntil(() => counts.successes > 30, { timeout: 120_000 });
  await store.killAndRestart("rest");
  await creating;
  const stored = await store.database.countByName(names);
  figures.count(150, "pets that are stored once", names, (name) => stored.get(name) === 1);
  figures.atLeast(12, "replayed creates", counts.replays);
});

/** Only `npm run client:proof` sets it. */
const minutes = Number(inject("projectOptions")?.minutes ?? 0);

it.skipIf(minutes === 0).concurrent.for([
  { who: "one client", clients: 1, leastShare: 1, mostRefused: 0 },
  { who: "ten clients", clients: 10, leastShare: 0.95, mostRefused: 20 },
])(
  "$who on Free use their limit in real time, and are not banned",
  async ({ clients: count, leastShare, mostRefused }, { figures }) => {
    const { perMinute } = limitsOf({ plan: "free" });
    const { key: apiKey } = await store.database.issueKey({ plan: "free" });
    const { fetch, counts } = createWitness();
    const clients = Array.from({ length: count }, () => createPetStoreClient({ baseUrl, apiKey, fetch }));
    await startWithinMinute(60_000);
    const stop = startFullSpeed(clients);
    // Ends a second early, so that the next window does not begin.
    await new Promise((resolve) => setTimeout(resolve, minutes * 60_000 - 1_000));
    figures.exactly(0, "failed calls", await stop());
    figures.atLeast(leastShare * minutes * perMinute, "admitted requests", counts.successes);
    figures.atMost(mostRefused * minutes, "refused requests", counts.refused);
    figures.exactly(0, "bans", counts.bans);
  },
);
