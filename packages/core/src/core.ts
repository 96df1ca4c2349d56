import { hostname } from "node:os";
import { type AccountRepository, createAccountRepository } from "./access/account-repository.js";
import {
  type Authenticator,
  createAuthenticator,
  type KeyCacheUse,
  type KeyWithLimits,
} from "./access/authenticator.js";
import { createEndingKeys } from "./access/ending-keys.js";
import { createKeyRepository, type KeyRepository, type KeyWithAccount } from "./access/key-repository.js";
import { createKeyUses } from "./access/key-uses.js";
import { subscribeToChanges } from "./changes/subscribe-to-changes.js";
import type { Config } from "./config/read-config.js";
import { type ConnectionCounts, isTransactionPooler } from "./database/connection-config.js";
import { openDatabase } from "./database/database.js";
import { watchDatabase } from "./database/reachability.js";
import type { Session } from "./database/session.js";
import type { Log } from "./log.js";
import { type Catalogue, createCatalogue } from "./pets/catalogue.js";
import { createIdempotencySweep } from "./pets/idempotency.js";
import { createKeptPages, type KeptPagesStats } from "./pets/pages/kept-pages.js";
import { createPetPages, type PetPage } from "./pets/pages/pet-pages.js";
import { openSettledIds, type SettleStats } from "./pets/pages/settled-ids.js";
import type { QuotaMode } from "./quota/decision.js";
import type { ShardState } from "./quota/engines/fallback/breakers.js";
import { openQuotas } from "./quota/open-quota.js";
import { type Limits, limitsOf } from "./quota/plan.js";
import type { Quota } from "./quota/quota.js";
import { createAccountUsage, type ReadAccountUsage } from "./usage/account-usage.js";
import { createUsageCounters, type UsageCounters, type UsageStats } from "./usage/usage-counters.js";
import { createUsageSweep } from "./usage/usage-table.js";

/** The domain, opened and wired: everything an API needs. */
export interface Core extends AsyncDisposable {
  readonly catalogue: Catalogue;
  readonly accounts: AccountRepository;
  readonly keys: KeyRepository;
  readonly authenticator: Authenticator;
  readonly accountQuota: Quota;
  /** Counts requests without a valid key by client address. */
  readonly addressQuota: Quota;
  readonly anonymousLimits: Limits;
  /** Counts units for the usage history. */
  readonly usageCounters: Pick<UsageCounters, "addAdmitted" | "addRefused">;
  readonly accountUsage: ReadAccountUsage;
  health(): Health;
  stats(): {
    readonly database: ConnectionCounts;
    readonly databasePoolSize: number;
    readonly keyCache: KeyCacheUse;
    /** Keys that end within 14 days and were used within 7. All instances count the same keys. */
    readonly endingKeys: number;
    /** The servers that count: one, or the masters of a Redis Cluster. None without a Redis. */
    readonly quotaShards: readonly ShardState[];
    readonly keptPages: KeptPagesStats;
    readonly settledIds: SettleStats;
    /** Pages that lack a cursor, because an insert stayed open for too long. */
    readonly shortenedPages: number;
    /** Bans that this instance has begun. */
    readonly bansBegun: number;
    readonly usage: UsageStats;
  };
}

export interface Health {
  readonly isDatabaseReachable: boolean;
  /** `fallback` if this instance decides alone about any account. */
  readonly quotaMode: QuotaMode;
  /** The names of the shards of a Redis Cluster whose accounts have this mode. */
  readonly lostShards: readonly string[];
  /** The migrations of a newer release that the database has. */
  readonly unknownMigrations: readonly string[];
}

interface CoreDeps {
  readonly log: Log;
  readonly now: () => number;
  readonly monotonicNow?: () => number;
}

/**
 * Resolves also while the database is unreachable. Until it is reachable, calls that need it throw SERVICE_UNAVAILABLE.
 * Throws an error with a one-line message if the database refuses the user or the password.
 */
export async function openCore(
  config: Pick<Config, "database" | "quota" | "usage" | "isTestStore">,
  deps: CoreDeps,
): Promise<Core> {
  const { log, now, monotonicNow = performance.now.bind(performance) } = deps;
  const quotas = await openQuotas(config.quota, { log, now });
  const database = openDatabase(config.database, log);
  // Closes all connections, because they would keep the process alive. No later step of `openCore` fails.
  const reachability = await watchDatabase(config.database, database, log).catch(async (error: unknown) => {
    quotas[Symbol.dispose]();
    await database[Symbol.asyncDispose]();
    throw error;
  });
  const actor = `service on ${hostname()}`;
  const keys = createKeyRepository(database, actor);
  const keyUses = createKeyUses(database, log);
  const endingKeys = createEndingKeys(database, log);
  const usageCounters = createUsageCounters(database, log);
  const authenticator = createAuthenticator({ keys: { findByDigest }, monotonicNow, isTestStore: config.isTestStore });
  const settledIds = openSettledIds({
    database,
    log,
    monotonicNow,
    writeTimeoutMs: config.database.writeTimeoutMs,
  });
  const keptPages = createKeptPages<PetPage>({ epoch: settledIds.epoch, monotonicNow });
  const petPages = createPetPages({ database, settledIds, keptPages });
  const listener = listen();
  await Promise.all([listener?.first, settledIds.first]);
  let isDisposed = false;
  const cleanUps = [
    cleanUpRegularly("idempotency keys", createIdempotencySweep(database)),
    cleanUpRegularly("usage", createUsageSweep(database, config.usage.retentionDays)),
  ];

  function cleanUpRegularly(what: string, cleanUp: () => Promise<void>): NodeJS.Timeout {
    let isRunning = false;
    const run = async () => {
      if (isRunning) return;
      isRunning = true;
      try {
        await cleanUp();
      } catch (error) {
        // After the disposal, the database was closed while the clean-up was running.
        if (!isDisposed) log.warn({ error }, `could not delete old ${what}; the next attempt follows in a minute`);
      }
      isRunning = false;
    };
    return setInterval(run, cleanUpIntervalMs).unref();
  }

  async function findByDigest(digest: string): Promise<KeyWithLimits | undefined> {
    const key = await keys.findByDigest(digest);
    if (key === undefined) return undefined;
    keyUses.record(key);
    await liftBan(key);
    return { ...key, limits: limitsOf(key) };
  }

  /** Each look-up of the key lifts the ban again, because Redis may have been unavailable at the last look-up. */
  async function liftBan({ accountId, lineage, banLiftedAgoMs }: KeyWithAccount): Promise<void> {
    const { longestBanMs, memoryMs } = config.quota.banPolicy;
    // Every ban from before such an old lift has ended, and its level is forgotten.
    if (banLiftedAgoMs === undefined || banLiftedAgoMs > longestBanMs + memoryMs) return;
    await quotas.accounts.liftBan({ account: `${accountId}`, key: `${lineage}`, liftedAgoMs: banLiftedAgoMs });
  }

  function listen(): Session | undefined {
    const url = config.database.directUrl ?? config.database.url;
    if (isTransactionPooler(url)) {
      log.warn({}, "cannot listen through PgBouncer: without DATABASE_DIRECT_URL, changes are seen within 5 s");
      return undefined;
    }
    const instance = `${hostname()}:${process.pid}`;
    return subscribeToChanges({ url, database, authenticator, quotas, dropKeptPages: keptPages.drop, instance, log });
  }

  return {
    catalogue: createCatalogue(database, petPages),
    accounts: createAccountRepository(database, actor),
    keys,
    authenticator,
    accountQuota: quotas.accounts,
    addressQuota: quotas.addresses,
    anonymousLimits: config.quota.anonymousLimits,
    usageCounters,
    accountUsage: createAccountUsage(database, monotonicNow),
    health: () => ({
      isDatabaseReachable: reachability.isReachable(),
      quotaMode: quotas.mode(),
      lostShards: quotas.shards().flatMap(({ name, isShared }) => (isShared || name === undefined ? [] : [name])),
      unknownMigrations: reachability.unknownMigrations(),
    }),
    stats: () => ({
      database: database.connections(),
      databasePoolSize: config.database.poolSize,
      keyCache: authenticator.cache(),
      endingKeys: endingKeys.count(),
      quotaShards: quotas.shards(),
      keptPages: keptPages.stats(),
      settledIds: settledIds.stats(),
      shortenedPages: petPages.shortened(),
      bansBegun: quotas.accounts.bansBegun(),
      usage: usageCounters.stats(),
    }),
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      for (const cleanUp of cleanUps) clearInterval(cleanUp);
      await usageCounters[Symbol.asyncDispose]();
      keyUses[Symbol.dispose]();
      endingKeys[Symbol.dispose]();
      settledIds[Symbol.dispose]();
      quotas[Symbol.dispose]();
      await Promise.all([
        listener?.[Symbol.asyncDispose](),
        reachability[Symbol.asyncDispose](),
        database[Symbol.asyncDispose](),
      ]);
    },
  };
}

const cleanUpIntervalMs = 60_000;
