/**
 * From a bearer token to the account behind it. Whatever is malformed costs no I/O; whatever is well-formed costs at
 * most one query per five seconds, known or unknown, however many requests ask at once.
 */
import { LRUCache } from "lru-cache";
import { Problem } from "../problem.js";
import { digestApiKey, isWellFormedApiKey } from "./api-key.js";
import type { KeyRepository, KeyWithAccount } from "./key-repository.js";

export interface AuthenticatorDeps {
  readonly keys: Pick<KeyRepository, "findByDigest">;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface Authenticator {
  /**
   * The key and its account, or the 401 that says why not. Rejects with SERVICE_UNAVAILABLE when the key is not
   * remembered and the database cannot be asked.
   */
  authenticate(token: string): Promise<KeyWithAccount | Problem>;
}

/** How long a revocation or a change of plan may stay unseen by an instance. */
const rememberMs = 5_000;
const capacity = 10_000;

export function createAuthenticator({ keys, now }: AuthenticatorDeps): Authenticator {
  const cacheOptions = { max: capacity, ttl: rememberMs, ttlResolution: 0, perf: { now } };
  const known = new LRUCache<string, KeyWithAccount>(cacheOptions);
  // Apart from the known ones, so that a flood of invented keys cannot push those out.
  const unknown = new LRUCache<string, true>(cacheOptions);
  const lookups = new Map<string, Promise<KeyWithAccount | undefined>>();

  /** One lookup at a time for each key, whoever else asks meanwhile. */
  function find(digest: string): Promise<KeyWithAccount | undefined> {
    const underWay = lookups.get(digest);
    if (underWay !== undefined) return underWay;
    const lookup = lookUp(digest).finally(() => lookups.delete(digest));
    lookups.set(digest, lookup);
    return lookup;
  }

  async function lookUp(digest: string): Promise<KeyWithAccount | undefined> {
    const key = await keys.findByDigest(digest);
    if (key === undefined) unknown.set(digest, true);
    else known.set(digest, key);
    return key;
  }

  return {
    async authenticate(token) {
      if (!isWellFormedApiKey(token)) return new Problem("API_KEY_INVALID");
      const digest = digestApiKey(token);
      const key = known.get(digest) ?? (unknown.has(digest) ? undefined : await find(digest));
      if (key === undefined) return new Problem("API_KEY_INVALID");
      if (key.revokedAt !== undefined) return new Problem("API_KEY_REVOKED");
      if (key.expiresAt !== undefined && key.expiresAt.getTime() <= now()) return new Problem("API_KEY_EXPIRED");
      return key;
    },
  };
}
