/**
 * From a bearer token to the account behind it. Whatever is malformed costs no I/O; whatever is well-formed costs at
 * most one query every few seconds, known or unknown, however many requests ask at once. What is remembered is asked for
 * again before it is five seconds old, and outlives that age only while the database owes the answer.
 */
import { createLruCache } from "../lru-cache.js";
import { Problem } from "../problem.js";
import { timeoutAfterReading } from "../timeout-after-reading.js";
import { digestApiKey, isWellFormedApiKey } from "./api-key.js";
import { createKeyCache, type KnownKey } from "./key-cache.js";
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
  /** Asks the database anew about every key of an account: one of them, or the account, has changed. */
  forgetAccount(accountId: bigint): void;
  /** Asks the database anew about every key: changes may have been missed. */
  forgetAll(): void;
  cache(): KeyCacheUse;
}

/** What the memory for keys has spared so far. */
export interface KeyCacheUse {
  /** Well-formed keys that needed no query of their own. */
  readonly hits: number;
  /** Those that did. */
  readonly misses: number;
  /** Keys remembered, unknown ones included. */
  readonly size: number;
}

/** From this age on an answer is asked for again, which leaves the database a second. */
const freshMs = 4_000;
/** How long a revocation or a change of plan may stay unseen by an instance. */
const rememberMs = 5_000;
/** How long a request waits for an answer that another, older one can stand in for: requests that need no database stay fast. */
const patienceMs = 10;
/** The oldest answer that stands in for one the database owes. While it is away, nothing changes in it. */
const standInMs = 3_600_000;
const capacity = 10_000;

type Entry = KnownKey | { readonly key: undefined; readonly askedAtMs: number };

interface Lookup {
  readonly answer: Promise<KeyWithAccount | undefined>;
  /** Resolves when the answer is there, has failed or takes too long to wait for. */
  readonly patience: Promise<unknown>;
}

export function createAuthenticator({ keys, now }: AuthenticatorDeps): Authenticator {
  const known = createKeyCache(capacity);
  // Apart from the known ones, so that a flood of invented keys cannot push those out.
  const unknown = createLruCache<Entry>(capacity);
  const lookups = new Map<string, Lookup>();
  let hits = 0;
  let misses = 0;

  /** One lookup at a time for each key, whoever else asks meanwhile. */
  function find(digest: string): Lookup {
    const underWay = lookups.get(digest);
    if (underWay !== undefined) return underWay;
    const answer = lookUp(digest, () => lookups.get(digest) === lookup).finally(() => {
      if (lookups.get(digest) === lookup) lookups.delete(digest);
    });
    const lookup: Lookup = { answer, patience: settledWithin(patienceMs, answer) };
    lookups.set(digest, lookup);
    return lookup;
  }

  /** What was asked before a change was told may be answered from before it, and must not be remembered. */
  async function lookUp(digest: string, isCurrent: () => boolean): Promise<KeyWithAccount | undefined> {
    const askedAtMs = now();
    const key = await keys.findByDigest(digest);
    if (!isCurrent()) return key;
    if (key === undefined) {
      known.delete(digest);
      unknown.set(digest, { key, askedAtMs });
    } else {
      unknown.delete(digest);
      known.set(digest, { key, askedAtMs });
    }
    return key;
  }

  async function renew(digest: string, entry: Entry, ageMs: number): Promise<KeyWithAccount | undefined> {
    const lookup = find(digest);
    if (ageMs <= rememberMs) return entry.key;
    if (ageMs > standInMs) return lookup.answer;
    await lookup.patience;
    const renewed = known.get(digest) ?? unknown.get(digest);
    // Told meanwhile that it has changed: the old answer is worth nothing.
    return renewed === undefined ? find(digest).answer : renewed.key;
  }

  return {
    async authenticate(token) {
      if (!isWellFormedApiKey(token)) return new Problem("API_KEY_INVALID");
      const digest = digestApiKey(token);
      const entry = known.get(digest) ?? unknown.get(digest);
      if (entry !== undefined || lookups.has(digest)) hits += 1;
      else misses += 1;
      let key: KeyWithAccount | undefined;
      if (entry === undefined) key = await find(digest).answer;
      else {
        const ageMs = now() - entry.askedAtMs;
        // A clock that was set back makes nothing younger.
        key = ageMs >= 0 && ageMs <= freshMs ? entry.key : await renew(digest, entry, ageMs);
      }
      if (key === undefined) return new Problem("API_KEY_INVALID");
      if (key.revokedAt !== undefined) return new Problem("API_KEY_REVOKED");
      if (key.expiresAt !== undefined && key.expiresAt.getTime() <= now()) return new Problem("API_KEY_EXPIRED");
      return key;
    },
    cache: () => ({ hits, misses, size: known.size + unknown.size }),
    forgetAccount(accountId) {
      lookups.clear();
      known.deleteAccount(accountId);
    },
    forgetAll() {
      lookups.clear();
      known.clear();
      unknown.clear();
    },
  };
}

/** Never rejects: whoever waits has another answer. */
function settledWithin(milliseconds: number, answer: Promise<unknown>): Promise<unknown> {
  return new Promise<void>((resolve) => {
    const timer = timeoutAfterReading(resolve, milliseconds);
    const settle = () => {
      clearTimeout(timer);
      resolve();
    };
    answer.then(settle, settle);
  });
}
