import { createLruCache } from "../lru-cache.js";
import type { KeyWithAccount } from "./key-repository.js";

export interface KnownKey {
  readonly key: KeyWithAccount;
  /** When the database was asked, in epoch milliseconds. */
  readonly askedAtMs: number;
}

/** The keys used last, by their digests, of which all that belong to an account can be dropped at once. */
export interface KeyCache {
  get(digest: string): KnownKey | undefined;
  set(digest: string, known: KnownKey): void;
  delete(digest: string): void;
  deleteAccount(accountId: bigint): void;
  clear(): void;
  readonly size: number;
}

export function createKeyCache(capacity: number): KeyCache {
  const digestsOf = new Map<bigint, Set<string>>();
  const cache = createLruCache<KnownKey>(capacity, ({ key: { accountId } }, digest) => {
    const digests = digestsOf.get(accountId);
    digests?.delete(digest);
    if (digests?.size === 0) digestsOf.delete(accountId);
  });

  return {
    get: (digest) => cache.get(digest),
    set(digest, known) {
      cache.set(digest, known);
      const digests = digestsOf.get(known.key.accountId);
      if (digests === undefined) digestsOf.set(known.key.accountId, new Set([digest]));
      else digests.add(digest);
    },
    delete: (digest) => void cache.delete(digest),
    deleteAccount(accountId) {
      for (const digest of [...(digestsOf.get(accountId) ?? [])]) cache.delete(digest);
    },
    clear: () => cache.clear(),
    get size() {
      return cache.size;
    },
  };
}
