import type { KeyWithAccount } from "../access/key-repository.js";
import type { Log } from "../log.js";
import { createLruCache } from "../lru-cache.js";
import type { Quota } from "../quota/quota.js";

/**
 * Ends the bans that an operator has lifted. A lifted ban is announced by a notification and stored in the key's row,
 * where an instance that missed the notification finds it at the key's next look-up. Each lifting acts once.
 */
export interface BanLifter {
  /** `key` is a key's lineage; `atMs` tells one lifting from another. Never rejects: the next look-up tries again. */
  lift(account: string, key: string, atMs: number): Promise<void>;
  /** Lifts the ban if the key's row, just read, says so. */
  honour(key: KeyWithAccount): Promise<void>;
}

export interface BanLifterDeps {
  readonly quota: Pick<Quota, "liftBan">;
  readonly log: Log;
  /** How long this instance has been running, by a monotonic clock. */
  readonly uptimeMs: () => number;
}

/** An instance may start shortly after the one that it replaces; a ban may have been lifted in between. */
const marginMs = 5_000;

export function createBanLifter({ quota, log, uptimeMs }: BanLifterDeps): BanLifter {
  const lifted = createLruCache<number>(10_000);

  async function lift(account: string, key: string, atMs: number): Promise<void> {
    const before = lifted.get(key);
    if (before !== undefined && atMs <= before) return;
    lifted.set(key, atMs);
    try {
      await quota.liftBan({ account, key });
      log.info({ account, key }, "a ban was lifted");
    } catch (error) {
      if (before === undefined) lifted.delete(key);
      else lifted.set(key, before);
      log.warn({ error, account, key }, "a ban could not be lifted; the key's next look-up tries again");
    }
  }

  return {
    lift,
    async honour({ accountId, lineage, banLiftedAt, banLiftedAgoMs = Number.POSITIVE_INFINITY }) {
      // A ban that was lifted before this instance started is over: a ban that runs now is another one.
      if (banLiftedAt === undefined || banLiftedAgoMs > uptimeMs() + marginMs) return;
      await lift(`${accountId}`, `${lineage}`, banLiftedAt.getTime());
    },
  };
}
