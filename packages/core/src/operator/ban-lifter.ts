import type { KeyWithAccount } from "../access/key-repository.js";
import type { Log } from "../log.js";
import { createLruCache } from "../lru-cache.js";
import type { Quota } from "../quota/quota.js";

/**
 * Ends the bans that an operator has lifted. The lifting is told by notification and stands in the key's row, where an
 * instance that missed it finds it when it next asks for the key: so it comes to an instance twice, and acts once.
 */
export interface BanLifter {
  /** `key` is a key's lineage; `atMs` tells one lifting from another. Never rejects: what fails is tried at the next lookup. */
  lift(account: string, key: string, atMs: number): Promise<void>;
  /** What the row of a key that was just looked up asks for. */
  honour(key: KeyWithAccount): Promise<void>;
}

export interface BanLifterDeps {
  readonly quota: Pick<Quota, "liftBan">;
  readonly log: Log;
  /** Epoch milliseconds. What was lifted before this instance began is done: a ban of today is another one. */
  readonly startedAtMs: number;
}

/** Clocks of the instance and of the database may differ by as much, and one instance may replace another. */
const marginMs = 5_000;

export function createBanLifter({ quota, log, startedAtMs }: BanLifterDeps): BanLifter {
  const lifted = createLruCache<number>(10_000);

  async function lift(account: string, key: string, atMs: number): Promise<void> {
    const before = lifted.get(key) ?? startedAtMs - marginMs;
    if (atMs <= before) return;
    lifted.set(key, atMs);
    try {
      await quota.liftBan({ account, key });
      log.info({ account, key }, "a ban was lifted");
    } catch (error) {
      lifted.set(key, before);
      log.warn({ error, account, key }, "a ban could not be lifted; the key's next lookup tries again");
    }
  }

  return {
    lift,
    async honour({ accountId, lineage, banLiftedAt }) {
      if (banLiftedAt !== undefined) await lift(`${accountId}`, `${lineage}`, banLiftedAt.getTime());
    },
  };
}
