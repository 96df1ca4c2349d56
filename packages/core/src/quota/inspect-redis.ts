import { once } from "node:events";
import { Cluster, type Redis } from "ioredis";
import { openRedis, type RedisConfig } from "./engines/redis-connection.js";

/** What an operator has to know about one Redis server, seen from this machine. */
export interface RedisFacts {
  /** Host and port. */
  readonly address: string;
  readonly version: string;
  /** Whether the server itself is a node of a cluster. */
  readonly isCluster: boolean;
  /** What it forgets when its memory is full; only `noeviction` keeps counters exact. */
  readonly evictionPolicy: string;
  /** How far its clock is ahead of ours. */
  readonly clockOffsetMs: number;
  /** How much of that the way there and back may account for. */
  readonly clockUncertaintyMs: number;
}

/** Every master that counts. Rejects with what ioredis met when Redis cannot be reached. */
export async function inspectRedis(config: RedisConfig, now: () => number): Promise<RedisFacts[]> {
  using connection = await openRedis(config);
  const { redis } = connection;
  if (!connection.isReady()) {
    // It goes on trying, and each attempt tells why it fails.
    const [reason] = await once(redis, "error", { signal: AbortSignal.timeout(1_500) }).catch((error: unknown) => [
      error,
    ]);
    throw reason;
  }
  const servers = redis instanceof Cluster ? redis.nodes("master") : [redis];
  return await Promise.all(servers.map((server) => factsOf(server, now)));
}

async function factsOf(server: Redis, now: () => number): Promise<RedisFacts> {
  const info = await server.info();
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? "";
  const askedAtMs = now();
  const [seconds, microseconds] = await server.time();
  const answeredAtMs = now();
  const serverMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
  return {
    address: `${server.options.host}:${server.options.port}`,
    version: field("redis_version"),
    isCluster: field("redis_mode") === "cluster",
    evictionPolicy: field("maxmemory_policy"),
    clockOffsetMs: Math.round(serverMs - (askedAtMs + answeredAtMs) / 2),
    clockUncertaintyMs: Math.ceil((answeredAtMs - askedAtMs) / 2),
  };
}
