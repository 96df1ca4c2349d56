import { type AccountRepository, createAccountRepository } from "./access/account-repository.js";
import { type Authenticator, createAuthenticator } from "./access/authenticator.js";
import { createKeyRepository, type KeyRepository } from "./access/key-repository.js";
import type { Config } from "./config.js";
import { openDatabase } from "./database/database.js";
import { watchDatabase } from "./database/reachability.js";
import type { Log } from "./log.js";
import { type Catalogue, createCatalogue } from "./pets/catalogue.js";
import { forgetIdempotencyKeys } from "./pets/idempotency.js";
import { openQuotas, type QuotaMode } from "./quota/open-quota.js";
import type { Limits } from "./quota/plan.js";
import type { Quota } from "./quota/quota.js";

/** The domain, opened and wired: everything a door needs. */
export interface Core extends AsyncDisposable {
  readonly catalogue: Catalogue;
  readonly accounts: AccountRepository;
  readonly keys: KeyRepository;
  readonly authenticator: Authenticator;
  /** Counts what accounts spend, all their keys and both doors together. */
  readonly accountQuota: Quota;
  /** Counts what addresses spend on requests without a valid key, apart, so that they cannot crowd accounts out. */
  readonly addressQuota: Quota;
  readonly anonymousLimits: Limits;
  /** What works at this moment. Cached: asking touches nothing. */
  health(): Health;
}

export interface Health {
  readonly isDatabaseReachable: boolean;
  readonly quotaMode: QuotaMode;
}

export interface CoreDeps {
  readonly log: Log;
  /** Epoch milliseconds, whole. */
  readonly now: () => number;
}

/** Needs no database to be there yet; what needs one answers SERVICE_UNAVAILABLE until it is. */
export async function openCore(config: Pick<Config, "database" | "quota">, { log, now }: CoreDeps): Promise<Core> {
  const quotas = await openQuotas(config.quota, { log, now });
  const database = openDatabase(config.database, log);
  const reachability = watchDatabase(database);
  const keys = createKeyRepository(database);
  const sweep = setInterval(forget, sweepIntervalMs).unref();

  function forget(): void {
    forgetIdempotencyKeys(database, new Date(now())).catch((error: unknown) => {
      log.warn({ error }, "could not forget old idempotency keys; the next sweep tries again");
    });
  }

  return {
    catalogue: createCatalogue({ database, now }),
    accounts: createAccountRepository(database),
    keys,
    authenticator: createAuthenticator({ keys, now }),
    accountQuota: quotas.accounts,
    addressQuota: quotas.addresses,
    anonymousLimits: config.quota.anonymousLimits,
    health: () => ({ isDatabaseReachable: reachability.isReachable(), quotaMode: quotas.mode() }),
    async [Symbol.asyncDispose]() {
      clearInterval(sweep);
      reachability[Symbol.dispose]();
      quotas[Symbol.dispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

const sweepIntervalMs = 60_000;
