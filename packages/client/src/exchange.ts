import { PetStoreError } from "./pet-store-error.js";

export type Fetch = typeof globalThis.fetch;

/** A request, as often as it is sent. Each is safe, or carries an Idempotency-Key: it may be repeated. */
export interface PetRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer whose body has arrived whole. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface ExchangeDeps {
  readonly fetch: Fetch;
  /** From the request to the last byte of its answer. */
  readonly timeoutMs: number;
}

/**
 * Sends a request once. Rejects with NETWORK_ERROR or TIMEOUT, or with the signal's reason, at once, also where `fetch`
 * itself does not heed its signal.
 */
export async function exchange(
  { fetch, timeoutMs }: ExchangeDeps,
  request: PetRequest,
  signal: AbortSignal,
): Promise<Answer> {
  const cutter = new AbortController();
  const cut = new Promise<never>((_resolve, reject) => {
    cutter.signal.addEventListener("abort", () => reject(cutter.signal.reason), { once: true });
  });
  const onAbort = (): void => cutter.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => {
    cutter.abort(new PetStoreError("TIMEOUT", `The service did not answer within ${timeoutMs} ms.`));
  }, timeoutMs);
  try {
    return await Promise.race([send(fetch, request, cutter.signal), cut]);
  } catch (error) {
    if (cutter.signal.aborted) throw cutter.signal.reason;
    throw new PetStoreError("NETWORK_ERROR", "The service could not be reached.", { cause: error });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

async function send(fetch: Fetch, { url, ...init }: PetRequest, signal: AbortSignal): Promise<Answer> {
  const response = await fetch(url, { ...init, signal, credentials: "omit" });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
