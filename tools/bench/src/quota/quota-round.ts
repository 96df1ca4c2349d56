import type { RedisServer } from "@petstore/harness/redis";
import type { QuotaEngine } from "./quota-engine.js";

export const quotaMeasures = {
  decisionsPerSecond: { label: "decisions/s", digits: 0, better: "higher" },
  p50Ms: { label: "p50 ms", digits: 3, better: "lower" },
  p99Ms: { label: "p99 ms", digits: 3, better: "lower" },
  cpuMicroseconds: { label: "CPU us/decision", digits: 2, better: "lower" },
  redisCpuMicroseconds: { label: "Redis CPU us/decision", digits: 2, better: "lower" },
  bytesPerAccount: { label: "Redis bytes/account", digits: 0, better: "lower" },
} as const;

export type QuotaMeasure = keyof typeof quotaMeasures;

export type QuotaRound = Readonly<Record<QuotaMeasure, number>>;

export interface QuotaRoundOptions {
  readonly connections: number;
  readonly seconds: number;
  /** Reading the size of every key takes as long as the load, and a warm-up needs none. */
  readonly isWarmUp: boolean;
}

/** Loads one engine and reads what it cost its process and Redis, which works for it alone meanwhile. */
export async function measureQuotaRound(
  engine: QuotaEngine,
  redis: RedisServer,
  { connections, seconds, isWarmUp }: QuotaRoundOptions,
): Promise<QuotaRound> {
  const { prefix } = engine.contestant;
  const redisCpuBefore = await redisCpuMicroseconds(redis);
  const load = await engine.load(connections, seconds);
  const redisCpu = (await redisCpuMicroseconds(redis)) - redisCpuBefore;
  return {
    decisionsPerSecond: load.decisions / load.seconds,
    p50Ms: load.p50Ms,
    p99Ms: load.p99Ms,
    cpuMicroseconds: load.cpuMicroseconds / load.decisions,
    redisCpuMicroseconds: prefix === undefined ? Number.NaN : redisCpu / load.decisions,
    bytesPerAccount: prefix === undefined || isWarmUp ? Number.NaN : await bytesPerAccount(engine, redis, prefix),
  };
}

async function redisCpuMicroseconds(redis: RedisServer): Promise<number> {
  const info = `${await redis.command("INFO", "cpu")}`;
  const seconds = ["used_cpu_user", "used_cpu_sys"].map((name) => {
    return Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(info)?.[1]);
  });
  return seconds.reduce((sum, each) => sum + each) * 1e6;
}

/** Once every account has been seen within the minute, so that all that is ever kept of it is there. */
async function bytesPerAccount(engine: QuotaEngine, redis: RedisServer, prefix: string): Promise<number> {
  await engine.visit();
  const keys = (await redis.command("KEYS", `${prefix}*`)) as string[];
  const bytes = await Promise.all(keys.map(async (key) => Number(await redis.command("MEMORY", "USAGE", key))));
  return bytes.reduce((sum, each) => sum + each, 0) / engine.accounts;
}
