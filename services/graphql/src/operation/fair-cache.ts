/** Bounds what an account can displace in a cache that all accounts share. */
import { LRUCache } from "lru-cache";

/**
 * A cache that all accounts share, and in which no account displaces many entries of others. The account that adds an entry
 * owns it until it leaves the cache. An account with a full share displaces its own least recently used entries.
 */
export interface FairCache<Value> {
  get(key: string): Value | undefined;
  /** Adds an entry that is not in the cache, unless it is larger than the share of an account. */
  add(key: string, value: Value, owner: Owner): void;
}

interface Owner {
  readonly accountId: bigint;
  /** The size of the entry, in the unit of `maxSize`. */
  readonly size: number;
}

interface FairCacheOptions {
  readonly maxEntries: number;
  readonly maxSize: number;
}

/** The share of an account is an eighth of the entries and of the size. */
const shares = 8;

interface Entry<Value> extends Owner {
  readonly value: Value;
}

interface Share {
  /** The least recently used key is the first. */
  readonly keys: Set<string>;
  size: number;
}

export function createFairCache<Value>({ maxEntries, maxSize }: FairCacheOptions): FairCache<Value> {
  const shareByAccount = new Map<bigint, Share>();
  const cache = new LRUCache<string, Entry<Value>>({ max: maxEntries, maxSize, dispose: leaveShare });

  function leaveShare({ accountId, size }: Owner, key: string): void {
    const share = shareByAccount.get(accountId);
    if (share === undefined) return;
    share.keys.delete(key);
    share.size -= size;
    if (share.keys.size === 0) shareByAccount.delete(accountId);
  }

  function makeRoom({ accountId, size }: Owner): void {
    const share = shareByAccount.get(accountId);
    for (const key of share?.keys ?? []) {
      if (share === undefined || isRoomFor(share, size)) return;
      cache.delete(key);
    }
  }

  function isRoomFor(share: Share, size: number): boolean {
    return share.keys.size < maxEntries / shares && share.size + size <= maxSize / shares;
  }

  return {
    get(key) {
      const entry = cache.get(key);
      if (entry === undefined) return undefined;
      const keys = shareByAccount.get(entry.accountId)?.keys;
      keys?.delete(key);
      keys?.add(key);
      return entry.value;
    },
    add(key, value, { accountId, size }) {
      if (size > maxSize / shares) return;
      makeRoom({ accountId, size });
      cache.set(key, { value, accountId, size }, { size });
      const share = shareByAccount.get(accountId) ?? { keys: new Set(), size: 0 };
      share.keys.add(key);
      share.size += size;
      shareByAccount.set(accountId, share);
    },
  };
}
