import type { PetStoreClient } from "@petstore/client";
import { type CreateLedger, createLedger } from "@petstore/harness/responses";

/** Creates `total` pets with unique names, at most `concurrency` at a time. Resolves when every create has ended. */
export async function createPets(client: PetStoreClient, total: number, concurrency: number): Promise<CreateLedger> {
  const ledger = createLedger();
  const create = async (): Promise<void> => {
    while (ledger.asked.size < total) {
      const name = `pet ${ledger.asked.size}`;
      ledger.ask(name);
      try {
        await client.pets.create({ name, categoryId: 1 });
        ledger.acknowledge(name);
      } catch {
        // The ledger counts it as failed, because it is not acknowledged.
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, create));
  return ledger;
}
