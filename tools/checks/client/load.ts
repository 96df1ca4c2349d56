import type { Fetch, PetStoreClient } from "@petstore/client";

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

/**
 * A `fetch` that counts the responses.
 *
 * @param isLost decides by the idempotency key whether a response is lost after the service has done its work
 */
export function createWitness(inner: Fetch = fetch, isLost: (key: string) => boolean = () => false) {
  const counts = { successes: 0, refused: 0, bans: 0, replays: 0 };
  const countingFetch: Fetch = async (input, init) => {
    const response = await inner(input, init);
    const text = await response.text();
    if (isLost(new Headers(init?.headers).get("idempotency-key") ?? "")) throw new TypeError("the response is lost");
    const { status, headers, ok } = response;
    if (ok) counts.successes += 1;
    if (status === 429) counts.refused += 1;
    if (text.includes('"API_KEY_BANNED"')) counts.bans += 1;
    if (headers.has("idempotency-replayed")) counts.replays += 1;
    return new Response(text, { status, headers });
  };
  return { counts, fetch: countingFetch };
}
