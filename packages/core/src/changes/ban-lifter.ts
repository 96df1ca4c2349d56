import type { KeyWithAccount } from "../access/key-repository.js";
import type { Log } from "../log.js";
import { createLruCache } from "../lru-cache.js";
import type { Quota } from "../quota/quota.js";

/**
 * Ends the bans that an operator has lifted. A change event announces a lifted ban, and the key's row stores it: an
 * instance that missed the event finds it there at the key's next look-up. Each lifting acts once.
 */
export interface BanLifter {
  /** `key` is a key's lineage; `atMs` identifies the lifting. Never rejects: the next look-up tries again. */
  lift(account: string, key: string, atMs: number): Promise<void>;
  liftIfRequested(key: KeyWithAccount): Promise<void>;
}

interface BanLifterDeps {
  readonly quota: Pick<Quota, "liftBan">;
  readonly log: Log;
  readonly uptimeMs: () => number;
}

/** A ban may be lifted after an instance stops and before its replacement starts. */
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
    async liftIfRequested({ accountId, lineage, banLiftedAt, banLiftedAgoMs = Number.POSITIVE_INFINITY }) {
      // A ban that was lifted before this instance started is over: a ban that runs now is a later one.
      if (banLiftedAt === undefined || banLiftedAgoMs > uptimeMs() + marginMs) return;
      await lift(`${accountId}`, `${lineage}`, banLiftedAt.getTime());
    },
  };
}
