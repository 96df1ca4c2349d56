import { randomUUID } from "node:crypto";
import type { PetStoreClient } from "@petstore/client";
import type { CreateLedger } from "@petstore/harness/responses";

/** More calls than a client may send at once, so that it always has one waiting. */
const callsAtOnce = 16;

/** Lists pets with every client without a pause. The returned function stops it and returns the number of failed calls. */
export function startFullSpeed(clients: readonly PetStoreClient[]): () => Promise<number> {
  const stopped = new AbortController();
  let failed = 0;
  const listRepeatedly = async (client: PetStoreClient): Promise<void> => {
    while (!stopped.signal.aborted) {
      try {
        await client.pets.list({ signal: stopped.signal });
      } catch (error) {
        if (error === stopped.signal.reason) break;
        failed += 1;
        // A closed client rejects at once: without a pause this loop would block the process.
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    }
  };
  const calls = clients.flatMap((client) => Array.from({ length: callsAtOnce }, () => listRepeatedly(client)));
  return async () => {
    stopped.abort();
    await Promise.all(calls);
    return failed;
  };
}

/** Creates `total` pets with unique names, at most `concurrency` at a time. Resolves when every create has ended. */
export async function createPets(
  client: PetStoreClient,
  ledger: CreateLedger,
  total: number,
  concurrency: number,
): Promise<void> {
  const create = async (): Promise<void> => {
    while (ledger.asked.size < total) {
      const name = randomUUID();
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
}
