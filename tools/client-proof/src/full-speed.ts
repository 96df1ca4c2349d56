import type { PetStoreClient } from "@petstore/client";

/** More calls than a client may send at once, so that it always has one waiting. */
const callsAtOnce = 16;

/** Lists pets with every client without a pause. The returned function stops it and returns the number of failed calls. */
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
      // A closed client rejects at once: without a pause this loop would block the process.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
  return failed;
}
