import type { PetStoreClient } from "@petstore/client";

/** Calls that each client always has waiting or under way: more than it may send at once. */
const callsAtOnce = 16;

/** Lists pets with every client as fast as it lets us, until told to stop; returns how many calls failed. */
export function startFullSpeed(clients: readonly PetStoreClient[]): () => Promise<number> {
  const callers = clients.map((client) => {
    const stopped = new AbortController();
    return { stopped, asking: Array.from({ length: callsAtOnce }, () => ask(client, stopped.signal)) };
  });
  return async () => {
    for (const { stopped } of callers) stopped.abort();
    const failed = await Promise.all(callers.flatMap(({ asking }) => asking));
    return failed.reduce((sum, each) => sum + each, 0);
  };
}

async function ask(client: PetStoreClient, signal: AbortSignal): Promise<number> {
  let failed = 0;
  while (!signal.aborted) {
    try {
      await client.pets.list({ signal });
    } catch (error) {
      if (error === signal.reason) break;
      failed += 1;
      // A closed client rejects at once: without a pause this would ask it for ever.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
  return failed;
}
