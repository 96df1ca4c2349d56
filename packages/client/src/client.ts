import { createPets, type Pets } from "./pets.js";
import type { Fetch } from "./request.js";
import { createRequestSender } from "./request-sender.js";

export interface PetStoreClientOptions {
  /** The base address of the service, with its version: `https://petstore.example/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Defaults to the global `fetch`. */
  readonly fetch?: Fetch;
  /** The time limit of one attempt, from the request to the last byte of the response. Defaults to 30 seconds. */
  readonly timeoutMs?: number;
  /** The most requests in flight at the same time. Defaults to 8. */
  readonly maxConcurrent?: number;
  /** The most calls that may wait in the queue. Defaults to 1,000. */
  readonly maxQueued?: number;
  /** The most retries of one call after temporary failures. Defaults to 5. */
  readonly maxRetries?: number;
  /**
   * If the service demands a longer wait than this, calls are rejected with its error. Defaults to 2 minutes: calls wait
   * for the next minute's quota, but not for the next day's.
   */
  readonly maxWaitMs?: number;
  /** The current time in epoch milliseconds. Defaults to `Date.now`. */
  readonly now?: () => number;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). Defaults to `Math.random`. */
  readonly random?: () => number;
  /**
   * Returns a new key of 1 to 255 printable ASCII characters for each create. Defaults to `crypto.randomUUID`, which
   * browsers offer only on https and localhost.
   */
  readonly newIdempotencyKey?: () => string;
}

export interface PetStoreClient {
  readonly pets: Pets;
}

/**
 * Creates a client for one API key. Share one client per key: it tracks the remaining quota of the key's account. Throws
 * a TypeError if the address or the key is malformed.
 */
export function createPetStoreClient({ baseUrl, apiKey, ...options }: PetStoreClientOptions): PetStoreClient {
  const { href } = new URL(baseUrl);
  // Without this check the platform's error message for an invalid header would contain the key.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError("apiKey must be printable ASCII without blanks");
  const sendRequest = createRequestSender({
    // Reads the global at each request, so that a later replacement (for tracing or tests) takes effect.
    fetch: options.fetch ?? ((...request) => globalThis.fetch(...request)),
    timeoutMs: options.timeoutMs ?? 30_000,
    maxConcurrent: options.maxConcurrent ?? 8,
    maxQueued: options.maxQueued ?? 1_000,
    maxRetries: options.maxRetries ?? 5,
    maxWaitMs: options.maxWaitMs ?? 120_000,
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
  });
  const newIdempotencyKey = options.newIdempotencyKey ?? (() => crypto.randomUUID());
  return { pets: createPets({ sendRequest, baseUrl: href.replace(/\/+$/, ""), apiKey, newIdempotencyKey }) };
}
