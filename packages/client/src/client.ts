import { createCaller } from "./caller.js";
import type { Fetch } from "./exchange.js";
import { createPets, type Pets } from "./pets.js";

export interface PetStoreClientOptions {
  /** The service's base address, which ends in the version segment: `https://petstore.example/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** By default the platform's own. */
  readonly fetch?: Fetch;
  /** For one attempt, from the request to the last byte of its answer. 30 s by default. */
  readonly timeoutMs?: number;
  /** Requests under way at once: 8 by default. */
  readonly maxConcurrent?: number;
  /** Calls that may wait for their turn: 1,000 by default. */
  readonly maxQueued?: number;
  /** How often a call is repeated that failed for a reason that passes: 5 by default. */
  readonly maxRetries?: number;
  /**
   * When the service asks everybody to wait for longer than this, calls are rejected with its answer instead: by default
   * 2 minutes, so that a used-up minute is waited for, and a used-up day is not.
   */
  readonly maxWaitMs?: number;
  /** Epoch milliseconds; `Date.now` by default. */
  readonly now?: () => number;
  /** 0 to 1, without 1; `Math.random` by default. */
  readonly random?: () => number;
  /**
   * 1 to 255 printable characters, new at each call; `crypto.randomUUID` by default, which browsers have on https and
   * localhost only.
   */
  readonly newIdempotencyKey?: () => string;
}

export interface PetStoreClient {
  readonly pets: Pets;
}

/**
 * A client for one API key. Make one and share it: it is what knows how much of the quota is left. Throws a TypeError
 * for an address or a key that cannot be one.
 */
export function createPetStoreClient({ baseUrl, apiKey, ...options }: PetStoreClientOptions): PetStoreClient {
  const { href } = new URL(baseUrl);
  // The platform's own message for a header it cannot send would show the key.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError("apiKey must be printable ASCII without blanks");
  const call = createCaller({
    // Looked up at each call, so that a fetch which is replaced later, for tracing or tests, is used.
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
  return { pets: createPets({ call, baseUrl: href.replace(/\/+$/, ""), apiKey, newIdempotencyKey }) };
}
