import { Cluster, type Redis } from "ioredis";
import type { BanRecord } from "../quota.js";
import { bannedUntilOf } from "./reserve-script.js";

/** All running bans in Redis, in no order. `now` replaces the clock of Redis in tests, in whole epoch milliseconds. */
export async function listRedisBans(redis: Redis | Cluster, prefix: string, now?: () => number): Promise<BanRecord[]> {
  const [seconds, microseconds] = await redis.time();
  const nowMs = now?.() ?? Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
  const servers = redis instanceof Cluster ? redis.nodes("master") : [redis];
  return (await Promise.all(servers.map((server) => bansOn(server, prefix, nowMs)))).flat();
}

/** Scans every key of a server, a thousand at a time, which does not block other clients for long. */
async function bansOn(server: Redis, prefix: string, nowMs: number): Promise<BanRecord[]> {
  // A scan may return a key twice.
  const bans = new Map<string, BanRecord>();
  const scan: AsyncIterable<string[]> = server.scanStream({ match: `${prefix}{*}:*`, count: 1_000 });
  for await (const found of scan) {
    const values = await Promise.all(found.map((key) => server.get(key)));
    for (const [index, penaltyKey] of found.entries()) {
      const [account = "", key = ""] = penaltyKey.slice(prefix.length + 1).split("}:");
      const bannedUntilMs = bannedUntilOf(values[index] ?? "");
      if (bannedUntilMs > nowMs) bans.set(penaltyKey, { account, key, bannedUntilMs });
    }
  }
  return [...bans.values()];
}
