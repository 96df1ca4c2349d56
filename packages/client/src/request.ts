import { PetStoreError } from "./pet-store-error.js";

export type Fetch = typeof globalThis.fetch;

/** A request that may be sent more than once: it is a GET, or it has an Idempotency-Key. */
export interface PetStoreRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A response with its complete body. */
export interface PetStoreResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface SendOnceOptions {
  readonly fetch: Fetch;
  /** The time from the start of the request to the last byte of the response. */
  readonly timeoutMs: number;
}

/**
 * Sends a request once. Rejects with NETWORK_ERROR or TIMEOUT, or with the signal's reason. A timeout and an abort reject
 * immediately, even if `fetch` ignores its signal.
 *
 * AbortSignal.any() would not make this shorter: Node keeps a composite signal in memory until its listeners are removed,
 * and browsers older than 2024 do not have it.
 */
export async function sendOnce(
  { fetch, timeoutMs }: SendOnceOptions,
  request: PetStoreRequest,
  signal: AbortSignal,
): Promise<PetStoreResponse> {
  const attempt = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    attempt.signal.addEventListener("abort", () => reject(attempt.signal.reason), { once: true });
  });
  const onAbort = (): void => attempt.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => {
    attempt.abort(new PetStoreError("TIMEOUT", `The service did not respond within ${timeoutMs} ms.`));
  }, timeoutMs);
  try {
    return await Promise.race([fetchText(fetch, request, attempt.signal), aborted]);
  } catch (error) {
    if (attempt.signal.aborted) throw attempt.signal.reason;
    throw new PetStoreError("NETWORK_ERROR", "The service could not be reached.", { cause: error });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

async function fetchText(
  fetch: Fetch,
  { url, ...init }: PetStoreRequest,
  signal: AbortSignal,
): Promise<PetStoreResponse> {
  const response = await fetch(url, { ...init, signal, credentials: "omit" });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
