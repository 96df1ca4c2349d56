import { hostname } from "node:os";
import { type AccountRepository, createAccountRepository } from "./access/account-repository.js";
import { type Authenticator, createAuthenticator, type KeyCacheUse } from "./access/authenticator.js";
import { createKeyRepository, type KeyRepository, type KeyWithAccount } from "./access/key-repository.js";
import type { Config } from "./config/config.js";
import { databaseUnavailable } from "./database/availability.js";
import { type Connections, type Database, openDatabase } from "./database/database.js";
import type { Listener } from "./database/listener.js";
import { isTransactionPooler } from "./database/pooler.js";
import { watchDatabase } from "./database/reachability.js";
import type { Log } from "./log.js";
import { createBanLifter } from "./operator/ban-lifter.js";
import { followNews } from "./operator/follow-news.js";
import { type Catalogue, createCatalogue } from "./pets/catalogue.js";
import { forgetIdempotencyKeys } from "./pets/idempotency.js";
import type { QuotaMode } from "./quota/decision.js";
import { openQuotas } from "./quota/open-quota.js";
import type { Limits } from "./quota/plan.js";
import type { Quota } from "./quota/quota.js";

/** The domain, opened and wired: everything an API needs. */
export interface Core extends AsyncDisposable {
  readonly catalogue: Catalogue;
  /**
   * For requests whose key is stale: validates like `catalogue`, and throws SERVICE_UNAVAILABLE where that would ask
   * PostgreSQL. So a key that has been revoked since reads and writes nothing.
   */
  readonly catalogueWhileUnreachable: Catalogue;
  readonly accounts: AccountRepository;
  readonly keys: KeyRepository;
  readonly authenticator: Authenticator;
  /** Counts what accounts spend, all their keys and both APIs together. */
  readonly accountQuota: Quota;
  /** Counts requests without a valid key per client address, in this process: invented addresses fill no Redis. */
  readonly addressQuota: Quota;
  readonly anonymousLimits: Limits;
  /** What works at this moment. Cached: asking touches nothing. */
  health(): Health;
  /** What is counted at this moment; asking touches nothing either. */
  stats(): Stats;
}

export interface Health {
  readonly isDatabaseReachable: boolean;
  /** Requests fail because no connection of the pool comes free in time. */
  readonly isDatabaseBusy: boolean;
  readonly quotaMode: QuotaMode;
}

export interface Stats {
  readonly database: Connections;
  readonly keyCache: KeyCacheUse;
  /** How often Redis has gone away since the start. */
  readonly quotaOutages: number;
}

export interface CoreDeps {
  readonly log: Log;
  /** Epoch milliseconds, whole. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. Default: the clock of the process. */
  readonly monotonicNow?: () => number;
}

/**
 * Needs no database to be there yet; what needs one answers SERVICE_UNAVAILABLE until it is. Throws one line when the
 * database is there and refuses the user or the password.
 */
export async function openCore(config: Pick<Config, "database" | "quota">, deps: CoreDeps): Promise<Core> {
  const { log, now, monotonicNow = () => performance.now() } = deps;
  const startedAtMs = monotonicNow();
  const database = openDatabase(config.database, log);
  const reachability = await watchDatabase(config.database, database, log).catch(async (error: unknown) => {
    await database[Symbol.asyncDispose]();
    throw error;
  });
  const quotas = await openQuotas(config.quota, { log, now });
  const keys = createKeyRepository(database);
  const bans = createBanLifter({ quota: quotas.accounts, log, uptimeMs: () => monotonicNow() - startedAtMs });
  const authenticator = createAuthenticator({ keys: { findByDigest }, monotonicNow });
  const listener = listen();
  await listener?.attempted;
  const sweep = setInterval(forget, sweepIntervalMs).unref();

  async function findByDigest(digest: string): Promise<KeyWithAccount | undefined> {
    const key = await keys.findByDigest(digest);
    if (key !== undefined) await bans.honour(key);
    return key;
  }

  function listen(): Listener | undefined {
    const url = config.database.directUrl ?? config.database.url;
    if (isTransactionPooler(url)) {
      log.warn({}, "nobody can listen through a PgBouncer: without DATABASE_DIRECT_URL, changes are seen within 5 s");
      return undefined;
    }
    const instance = `${hostname()}:${process.pid}`;
    const { accounts: quota, mode } = quotas;
    return followNews({ url, database, authenticator, quota, mode, bans, instance, log });
  }

  function forget(): void {
    forgetIdempotencyKeys(database).catch((error: unknown) => {
      log.warn({ error }, "could not forget old idempotency keys; the next sweep tries again");
    });
  }

  return {
    catalogue: createCatalogue({ database }),
    catalogueWhileUnreachable: createCatalogue({ database: unreachableDatabase }),
    accounts: createAccountRepository(database),
    keys,
    authenticator,
    accountQuota: quotas.accounts,
    addressQuota: quotas.addresses,
    anonymousLimits: config.quota.anonymousLimits,
    health: () => ({
      isDatabaseReachable: reachability.isReachable(),
      isDatabaseBusy: reachability.isBusy(),
      quotaMode: quotas.mode(),
    }),
    stats: () => ({
      database: database.connections(),
      keyCache: authenticator.cache(),
      quotaOutages: quotas.outages(),
    }),
    async [Symbol.asyncDispose]() {
      clearInterval(sweep);
      quotas[Symbol.dispose]();
      await Promise.all([
        listener?.[Symbol.asyncDispose](),
        reachability[Symbol.asyncDispose](),
        database[Symbol.asyncDispose](),
      ]);
    },
  };
}

const sweepIntervalMs = 60_000;

const unreachableDatabase: Pick<Database, "run"> = {
  run: async () => {
    throw databaseUnavailable(new Error("the key of the request is stale"));
  },
};
