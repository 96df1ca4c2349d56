import { randomUUID } from "node:crypto";
import type { Log } from "../log.js";
import type { BanPolicy } from "./ban-policy.js";
import type { QuotaMode } from "./decision.js";
import { createBreakers, type ShardState } from "./engines/fallback/breakers.js";
import { createFallbackQuota, type FailureMode } from "./engines/fallback/fallback-quota.js";
import { createLastKnownCounts } from "./engines/fallback/last-known-counts.js";
import { createLots } from "./engines/fallback/share.js";
import { createLocalQuota } from "./engines/local-quota.js";
import { openRedis, type RedisConfig } from "./engines/redis-connection.js";
import { createRedisQuota } from "./engines/redis-quota.js";
import type { Penalties } from "./penalties.js";
import type { Limits } from "./plan.js";
import type { Quota } from "./quota.js";
import { type ReportedQuota, reportBans } from "./report-bans.js";

export interface QuotaConfig {
  readonly banPolicy: BanPolicy;
  readonly anonymousLimits: Limits;
  /** Undefined: this process counts alone. */
  readonly redis: RedisConfig | undefined;
  /** The number of instances that share the limits. While Redis is unavailable, each grants its share. */
  readonly instances: number;
  readonly failureMode: FailureMode;
}

export interface Quotas extends Disposable {
  readonly accounts: ReportedQuota & Penalties;
  /** Always counted in this process, in bounded memory: addresses that clients invent would fill Redis. */
  readonly addresses: Quota;
  /** With an account, its mode. Without one, `fallback` if any account has this mode. */
  mode(account?: string): QuotaMode;
  /** The servers that count. None if this process counts alone. */
  shards(): readonly ShardState[];
}

/** Opens the configured engine. Waits up to a second for Redis, and uses it as soon as it is available. */
export async function openQuotas(
  config: QuotaConfig,
  { log, now }: { readonly log: Log; readonly now: () => number },
): Promise<Quotas> {
  const { banPolicy, instances, failureMode } = config;
  if (config.redis === undefined) {
    return {
      accounts: reportBans(createLocalQuota({ now, banPolicy }), log),
      addresses: createLocalQuota({ now, capacity: maxAddresses }),
      mode: () => "local",
      shards: () => [],
      [Symbol.dispose]() {},
    };
  }
  const connection = await openRedis(config.redis);
  const redisQuota = createRedisQuota({ redis: connection.redis, banPolicy });
  // Redis Cluster hashes only the text before the first `}`, so the probe reaches the node of the account. With a key, it names
  // two Redis keys, as requests do: while a slot moves, its nodes refuse only such calls.
  const probe = (account: string) =>
    redisQuota.reserve({ account: `${account}}probe`, key: "probe", limits: unlimited, cost: 1 });
  // With `deny`, instances grant nothing in an outage. What they show then are the counts of the whole account, not of a share.
  const sharers = failureMode === "deny" ? 1 : instances;
  const drawLot = createLots(randomUUID());
  const { shards } = connection;
  const breakers = createBreakers({ shards, probe, deadlineMs: config.redis.decisionTimeoutMs, now, log });
  const { lastOutageOf } = breakers;
  const counts = createLastKnownCounts({ now, banPolicy, instances: sharers, drawLot, lastOutageOf });
  const isShared = () => breakers.states().every((shard) => shard.isShared);
  if (isShared()) log.info({}, "quotas are shared through Redis");
  return {
    accounts: reportBans(createFallbackQuota({ redisQuota, breakers, counts, failureMode }), log),
    // On the clock of Redis, so that all instances report the same resets.
    addresses: createLocalQuota({ now: counts.now, capacity: maxAddresses }),
    mode: (account) => ((account === undefined ? isShared() : breakers.canCall(account)) ? "shared" : "fallback"),
    shards: breakers.states,
    [Symbol.dispose]() {
      breakers[Symbol.dispose]();
      connection[Symbol.dispose]();
    },
  };
}

const maxAddresses = 50_000;

const unlimited: Limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };
