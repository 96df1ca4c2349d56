import type { Log } from "../log.js";
import type { BanPolicy } from "./ban-policy.js";
import type { QuotaMode } from "./decision.js";
import { createBreaker } from "./engines/fallback/breaker.js";
import { createFailoverQuota, type OnRedisFailure } from "./engines/fallback/fallback-quota.js";
import { createSharedClock } from "./engines/fallback/shared-clock.js";
import { createLocalQuota } from "./engines/local-quota.js";
import { openRedis, type RedisConfig } from "./engines/redis-connection.js";
import { createRedisQuota } from "./engines/redis-quota.js";
import type { Limits } from "./plan.js";
import type { Quota } from "./quota.js";

export interface QuotaConfig {
  readonly banPolicy: BanPolicy;
  /** What an address may spend on requests that show no valid key. */
  readonly anonymousLimits: Limits;
  /** Where the counters are shared; absent, this process has them to itself. */
  readonly redis: RedisConfig | undefined;
  /** How many instances share the limits. */
  readonly instances: number;
  readonly onRedisFailure: OnRedisFailure;
}

export interface Quotas extends Disposable {
  readonly accounts: Quota;
  /**
   * Always counted in this process, in bounded memory: clients invent addresses, which would fill the Redis of the
   * accounts.
   */
  readonly addresses: Quota;
  /** How the next decision will be made; each decision carries the mode it was made in. */
  mode(): QuotaMode;
  /** How often Redis has gone away. */
  outages(): number;
}

export interface QuotaDeps {
  readonly log: Log;
  /** Epoch milliseconds, whole. */
  readonly now: () => number;
}

/** The engine the configuration asks for. A Redis that is not there yet is waited for a second, and used from then on. */
export async function openQuotas(config: QuotaConfig, { log, now }: QuotaDeps): Promise<Quotas> {
  const { banPolicy, instances, onRedisFailure: onFailure } = config;
  if (config.redis === undefined) {
    return {
      accounts: createLocalQuota({ now, banPolicy }),
      addresses: createLocalQuota({ now, banPolicy, capacity: maxAddresses }),
      mode: () => "local",
      outages: () => 0,
      [Symbol.dispose]() {},
    };
  }
  const connection = await openRedis(config.redis);
  const shared = createRedisQuota({ redis: connection.redis, banPolicy });
  const clock = createSharedClock(now);
  // The brace ends the hash tag early: another key, in the slot of the suspect.
  const probe = (suspect: string) => shared.reserve({ account: `${suspect}}probe`, limits: unlimited, cost: 1 });
  const breaker = createBreaker({ connection, probe, deadlineMs: config.redis.commandTimeoutMs, log });
  const failover = { shared, breaker, clock, banPolicy, instances, onFailure };
  if (!breaker.isOpen()) log.info({}, "quotas are shared through Redis");
  return {
    accounts: createFailoverQuota(failover),
    // By the clock of Redis, so that all instances report the same resets.
    addresses: createLocalQuota({ now: clock.now, banPolicy, capacity: maxAddresses }),
    mode: () => (breaker.isOpen() ? "fallback" : "shared"),
    outages: () => breaker.outages,
    [Symbol.dispose]() {
      breaker[Symbol.dispose]();
      connection[Symbol.dispose]();
    },
  };
}

/** About 500 bytes each. Beyond it the address that has been idle longest is forgotten. */
const maxAddresses = 50_000;

const unlimited: Limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };
