/**
 * Finds the account behind a bearer token. A cached record decides for 5 s, or until the key or its account changes. After
 * that, concurrent requests with the same key share one look-up in PostgreSQL. Unknown keys have a cache of their own. While
 * PostgreSQL is unavailable or too busy, a stale record, which is older than 5 s, still authenticates.
 */
import { createLruCache } from "../lru-cache.js";
import { Problem } from "../problem.js";
import type { CustomLimits } from "./account-repository.js";
import { digestApiKey, isWellFormedApiKey, modeOf } from "./api-key.js";
import type { KeyWithAccount } from "./key-repository.js";
import { rfc3339 } from "./rfc3339.js";
import { createUnknownKeyLimiter } from "./unknown-key-limiter.js";

interface AuthenticatorDeps {
  readonly keys: { findByDigest(digest: string): Promise<KeyWithLimits | undefined> };
  /** Milliseconds of a monotonic clock: the age of a record does not depend on the time of day. */
  readonly monotonicNow: () => number;
  readonly isTestStore: boolean;
}

export interface KeyWithLimits extends KeyWithAccount {
  /** The custom limits of the account, or the limits of its plan. */
  readonly limits: CustomLimits;
}

export type Authentication =
  | {
      readonly outcome: "accepted";
      readonly key: KeyWithLimits;
      /** Why the record, which is older than 5 s, could not be read again: the key may have been revoked since. */
      readonly staleCause: Problem | undefined;
      /** When the key ends, as an HTTP date (RFC 9110 section 5.6.7), if it ends within 30 days. */
      readonly announcedExpiry: string | undefined;
    }
  | {
      readonly outcome: "rejected";
      readonly problem: Problem;
      /** Present if the key was revoked or has expired. */
      readonly key?: KeyWithAccount;
    };

export interface Authenticator {
  /**
   * Limits the look-ups of uncached keys for each `client`. Rejects with SERVICE_UNAVAILABLE at this limit, and if the
   * look-up fails and there is no stale record.
   */
  authenticate(token: string, client: string): Authentication | Promise<Authentication>;
  /** The account or one of its keys has changed: stops the use of its cached records. */
  invalidateAccount(accountId: bigint): void;
  /** Change events may be lost: stops the use of all cached records. */
  invalidateAll(): void;
  cache(): KeyCacheUse;
}

export interface KeyCacheUse {
  /** Checks that used a fresh cached result, or waited for the look-up of another request. */
  readonly hits: number;
  readonly misses: number;
  /** Look-ups refused because the client, or all clients together, had sent too many unknown keys. */
  readonly refusals: number;
  readonly size: number;
}

/** A record older than this is read again in the background. So requests with a busy key wait for no look-up. */
const refreshAfterMs = 4_000;
/** A record up to this age needs no look-up. So if a change event is lost, the change takes effect after at most this time. */
const freshMs = 5_000;
/** The greatest age of a stale record. While a key has such a record, its look-ups are not limited. */
const staleMs = 3_600_000;
/**
 * For this time after a failed look-up, requests use stale records without waiting, and one look-up runs in the background.
 * With the default timeouts, this look-up fails after about 2 s, which restarts the 3 s. So steady requests never wait.
 */
const unreachableMs = 3_000;
/** 30 days. A holder can replace a key in this time. */
const announcedMs = 2_592_000_000;
const capacity = 10_000;

interface CachedKey {
  readonly key: KeyWithLimits;
  /** When the key ends, as an HTTP date. It is made once for all requests, and rounded down to a second. */
  readonly expiryDate: string | undefined;
  readonly checkedAtMs: number;
  readonly lookUpNumber: number;
}

export function createAuthenticator({ keys, monotonicNow, isTestStore }: AuthenticatorDeps): Authenticator {
  const known = createLruCache<CachedKey>(capacity);
  /** When the look-up of an unknown key began. The cache is separate, so that unknown keys do not evict known keys. */
  const unknown = createLruCache<number>(capacity);
  const lookUps = new Map<string, Promise<CachedKey | undefined>>();
  const limiter = createUnknownKeyLimiter(monotonicNow);
  /** Numbers look-ups and changes with one counter. A record is current if its look-up began after the last change. */
  let sequence = 0;
  const lastChangeOf = new Map<bigint, number>();
  let lastChangeOfAny = 0;
  /** Of the last look-up. */
  let failure: { readonly atMs: number; readonly problem: Problem } | undefined;
  let hits = 0;
  let misses = 0;

  function isCurrent({ key, lookUpNumber }: CachedKey): boolean {
    return lookUpNumber > Math.max(lastChangeOfAny, lastChangeOf.get(key.accountId) ?? 0);
  }

  function ageOf({ checkedAtMs }: { readonly checkedAtMs: number }): number {
    return monotonicNow() - checkedAtMs;
  }

  function sharedLookUp(digest: string, client: string): Promise<CachedKey | undefined> {
    const inFlight = lookUps.get(digest);
    if (inFlight !== undefined) {
      hits += 1;
      return inFlight;
    }
    const cached = known.get(digest);
    const isKnown = cached !== undefined && ageOf(cached) <= staleMs;
    const found = isKnown ? lookUp(digest) : limiter.run(client, () => lookUp(digest));
    const settled = found.finally(() => lookUps.delete(digest));
    lookUps.set(digest, settled);
    return settled;
  }

  async function lookUp(digest: string): Promise<CachedKey | undefined> {
    for (;;) {
      sequence += 1;
      misses += 1;
      const read = { lookUpNumber: sequence, checkedAtMs: monotonicNow() };
      const key = await keys.findByDigest(digest).catch((error: unknown) => {
        failure = { atMs: monotonicNow(), problem: Problem.from(error) };
        throw error;
      });
      failure = undefined;
      if (key === undefined) {
        known.delete(digest);
        unknown.set(digest, read.checkedAtMs);
        return undefined;
      }
      const cached = { key, expiryDate: key.expiresAt?.toUTCString(), ...read };
      // The key or its account changed during the query, so the row may be out of date.
      if (!isCurrent(cached)) continue;
      unknown.delete(digest);
      known.set(digest, cached);
      return cached;
    }
  }

  function staleRecord(digest: string): CachedKey | undefined {
    const cached = known.get(digest);
    return cached !== undefined && isCurrent(cached) && ageOf(cached) <= staleMs ? cached : undefined;
  }

  async function lookUpOrUseStale(digest: string, client: string): Promise<Authentication> {
    const recent = failure !== undefined && monotonicNow() - failure.atMs < unreachableMs ? failure : undefined;
    const stale = recent && staleRecord(digest);
    if (recent !== undefined && stale !== undefined) {
      // One look-up at a time is enough to notice a recovery. A look-up for each key would fill the queue of the pool.
      if (lookUps.size === 0) ignoreFailure(sharedLookUp(digest, client));
      return authenticationOf(stale, recent.problem);
    }
    try {
      const cached = await sharedLookUp(digest, client);
      return cached === undefined ? invalid() : authenticationOf(cached);
    } catch (error) {
      const problem = Problem.from(error);
      const cached = problem.code === "SERVICE_UNAVAILABLE" ? staleRecord(digest) : undefined;
      if (cached === undefined) throw error;
      return authenticationOf(cached, problem);
    }
  }

  function authenticationOf(cached: CachedKey, staleCause?: Problem): Authentication {
    const { key, expiryDate } = cached;
    const { revokedAt, expiresAt, expiresInMs } = key;
    if (revokedAt !== undefined) {
      return { outcome: "rejected", problem: new Problem("API_KEY_REVOKED", since("was revoked", revokedAt)), key };
    }
    if (expiresInMs === undefined) return { outcome: "accepted", key, staleCause, announcedExpiry: undefined };
    const leftMs = expiresInMs - ageOf(cached);
    if (leftMs <= 0) {
      return { outcome: "rejected", problem: new Problem("API_KEY_EXPIRED", since("expired", expiresAt)), key };
    }
    return { outcome: "accepted", key, staleCause, announcedExpiry: leftMs <= announcedMs ? expiryDate : undefined };
  }

  function invalidateAll(): void {
    lastChangeOf.clear();
    unknown.clear();
    sequence += 1;
    lastChangeOfAny = sequence;
  }

  return {
    authenticate(token, client) {
      if (!isWellFormedApiKey(token)) return invalid();
      if (!isTestStore && modeOf(token) === "test") return invalid("Test keys work only in a test store.");
      const digest = digestApiKey(token);
      const cached = known.get(digest);
      if (cached !== undefined && isCurrent(cached) && ageOf(cached) <= freshMs) {
        hits += 1;
        if (ageOf(cached) > refreshAfterMs && !lookUps.has(digest)) ignoreFailure(sharedLookUp(digest, client));
        return authenticationOf(cached);
      }
      const checkedAtMs = unknown.get(digest);
      if (checkedAtMs !== undefined && ageOf({ checkedAtMs }) <= freshMs) {
        hits += 1;
        return invalid();
      }
      return lookUpOrUseStale(digest, client);
    },
    cache: () => ({ hits, misses, refusals: limiter.refusals(), size: known.size + unknown.size }),
    invalidateAccount(accountId) {
      if (lastChangeOf.size >= capacity) invalidateAll();
      sequence += 1;
      lastChangeOf.set(accountId, sequence);
    },
    invalidateAll,
  };
}

/** The message about a key that has ended. `undefined`, for the usual message, if the time is `-infinity`. */
function since(event: "expired" | "was revoked", at: Date | undefined): string | undefined {
  const time = at && rfc3339(at);
  return time && `The API key ${event} at ${time}.`;
}

function invalid(message?: string): Authentication {
  return { outcome: "rejected", problem: new Problem("API_KEY_INVALID", message) };
}

/** The look-up runs in the background. A request that awaits the same look-up still gets the error. */
function ignoreFailure(lookUp: Promise<unknown>): void {
  lookUp.catch(() => {});
}
