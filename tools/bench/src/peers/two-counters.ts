import type { Cluster, Redis } from "ioredis";

/** The requests of an account within its minute and its day, this one with them, and in how long its minute ends. */
export interface Counts {
  readonly minute: number;
  readonly day: number;
  readonly resetInMs: number;
}

const script = `
local minute = redis.call("INCR", KEYS[1])
if minute == 1 then redis.call("PEXPIRE", KEYS[1], 60000) end
local day = redis.call("INCR", KEYS[2])
if day == 1 then redis.call("PEXPIRE", KEYS[2], 86400000) end
return {minute, day, redis.call("PTTL", KEYS[1])}`;

/** The least that two windows in Redis can cost: one script call counts in both, and knows neither limits nor bans. */
export async function openTwoCounters(
  redis: Redis | Cluster,
  prefix: string,
): Promise<(account: string) => Promise<Counts>> {
  const sha = `${await redis.script("LOAD", script)}`;
  return async (account) => {
    const keys = [`${prefix}{${account}}m`, `${prefix}{${account}}d`];
    const [minute, day, resetInMs] = (await redis.evalsha(sha, 2, ...keys)) as [number, number, number];
    return { minute, day, resetInMs };
  };
}
