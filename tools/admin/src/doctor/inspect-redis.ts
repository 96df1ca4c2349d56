import { once } from "node:events";
import { openRedis, type RedisConfig, type RedisConnection } from "@petstore/core";
import { addressOf } from "./inspect-sentinels.js";

/** The facts about one Redis server that an operator must know, seen from this machine. */
export interface RedisFacts {
  /** Host and port. */
  readonly address: string;
  readonly version: string;
  /** True for a node of a cluster. */
  readonly isCluster: boolean;
  /** The `maxmemory-policy`. Only `noeviction` keeps counters exact. */
  readonly evictionPolicy: string;
  /** It refuses writes while too few replicas follow it. */
  readonly needsReplica: boolean;
  /** How far its clock is ahead of the clock of this machine. */
  readonly clockOffsetMs: number;
  /** Half the round trip: the error of that measurement. */
  readonly clockUncertaintyMs: number;
}

/** Inspects every master. Rejects with the error of ioredis when Redis cannot be reached. */
export async function inspectRedis(config: RedisConfig, now: () => number): Promise<RedisFacts[]> {
  using connection = await openRedis(config);
  const { redis } = connection;
  if (redis.status !== "ready") {
    // ioredis keeps trying, and each failed attempt emits an error.
    const [reason] = await once(redis, "error", { signal: AbortSignal.timeout(1_500) }).catch((error: unknown) => [
      error,
    ]);
    throw reason;
  }
  const servers = "nodes" in redis ? redis.nodes("master") : [redis];
  return await Promise.all(servers.map((server) => factsOf(server, now)));
}

type Server = Exclude<RedisConnection["redis"], { nodes: unknown }>;

async function factsOf(server: Server, now: () => number): Promise<RedisFacts> {
  const info = await server.info();
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? "";
  const sentAtMs = now();
  const [seconds, microseconds] = await server.time();
  const receivedAtMs = now();
  const serverMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
  return {
    // The options name no server if Sentinel does.
    address: server.options.sentinels
      ? addressOf({ host: `${server.stream.remoteAddress}`, port: Number(server.stream.remotePort) })
      : `${server.options.host}:${server.options.port}`,
    version: field("redis_version"),
    isCluster: field("redis_mode") === "cluster",
    evictionPolicy: field("maxmemory_policy"),
    // Only there if min-replicas-to-write is set.
    needsReplica: field("min_slaves_good_slaves") !== "",
    clockOffsetMs: Math.round(serverMs - (sentAtMs + receivedAtMs) / 2),
    clockUncertaintyMs: Math.ceil((receivedAtMs - sentAtMs) / 2),
  };
}
