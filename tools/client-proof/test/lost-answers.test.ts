import { createPetStoreClient } from "@petstore/client";
import { afterAll, expect, it } from "vitest";
import { startCreating } from "../src/ledger.js";
import { openRealStore } from "../src/real-store.js";
import { createRandom } from "../src/seeded-random.js";
import { startService } from "../src/service-process.js";
import { createWitness } from "../src/witness.js";

const store = await openRealStore();
const service = await startService(store.databaseUrl);
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});

it("a create whose answer is lost on its way is repeated, and makes no second pet", async () => {
  const apiKey = await store.issueKey({ perMinute: 10_000, perDay: 10_000 });
  const random = createRandom(7);
  const witness = createWitness(() => random() < 0.1);
  // Without jitter every wait is as short as it may be.
  const client = createPetStoreClient({
    baseUrl: `${service.origin}/v1`,
    apiKey,
    fetch: witness.fetch,
    random: () => 0,
  });
  const ledger = startCreating(client, 100, 10);
  await ledger.creating;
  const stored = await store.countByName(ledger.names);
  expect(ledger.compare(stored)).toEqual({ acknowledged: 100, failed: 0, duplicates: 0, lost: 0 });
  expect(witness.unanswered).toBeGreaterThan(3);
  expect(witness.replays).toBeGreaterThan(0);
});
