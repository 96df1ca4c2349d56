import { createPetStoreClient } from "@petstore/client";
import { afterAll, expect, it } from "vitest";
import { createPets } from "../src/ledger.js";
import { openRealStore } from "../src/real-store.js";
import { createRandom } from "../src/seeded-random.js";
import { createWitness } from "../src/witness.js";

const store = await openRealStore();
afterAll(() => store[Symbol.asyncDispose]());

it("repeats a create whose answer is lost, without a second pet", async () => {
  const { key: apiKey } = await store.database.issueKey();
  const random = createRandom(7);
  const witness = createWitness(() => random() < 0.1);
  // Without jitter every wait has its shortest length.
  const client = createPetStoreClient({
    baseUrl: store.baseUrl,
    apiKey,
    fetch: witness.fetch,
    random: () => 0,
  });
  const ledger = await createPets(client, 100, 10);
  const stored = await store.database.countByName([...ledger.asked]);
  expect(ledger.compare(stored)).toEqual({ acknowledged: 100, failed: 0, duplicates: 0, lost: 0 });
  expect(witness.unanswered).toBeGreaterThan(3);
  expect(witness.replays).toBeGreaterThan(0);
});
