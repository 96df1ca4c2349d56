/** Connects to a Redis, to a Redis Cluster, or to the primary that Sentinel names. */
import { once } from "node:events";
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from "ioredis";
import { connectMasters, watchClusterShards } from "./cluster-shards.js";
import { openBehindSentinel, type SentinelLogin } from "./redis-behind-sentinel.js";
import { readSentinelUrl } from "./sentinel-url.js";
import type { Shard, Shards } from "./shards.js";

export interface RedisConfig extends SentinelLogin {
  /** One URL, or the URLs of several nodes of a cluster. `.env.example` describes the forms. */
  readonly urls: readonly string[];
  readonly isCluster: boolean;
  /** How long a decision may take before this instance decides alone. */
  readonly decisionTimeoutMs: number;
}

export interface RedisConnection extends Disposable {
  readonly redis: Redis | Cluster;
  readonly shards: Shards;
}

const connectionTimeoutMs = 1_000;
const stuckAfterMs = 100;

/** Resolves when the connection is ready or its first attempt has failed. ioredis continues to try. */
export async function openRedis(config: RedisConfig): Promise<RedisConnection> {
  const { redis, disconnect } = open(config);
  const shards = redis instanceof Cluster ? watchClusterShards(redis) : singleServer(redis);
  await once(redis, "ready", { signal: AbortSignal.timeout(connectionTimeoutMs) }).catch(() => {});
  if (redis instanceof Cluster) {
    redis.on("ready", () => connectMasters(redis));
    if (redis.status === "ready") await connectMasters(redis);
  }
  return { redis, shards, [Symbol.dispose]: disconnect };
}

/** The one server that ioredis is connected to, which may change behind Sentinel. */
function singleServer(redis: Redis): Shards {
  // Each failed attempt emits an error. The breaker logs the outage and its cause, once.
  let connectError: Error | undefined;
  redis.on("error", (error: Error) => {
    connectError = error;
  });
  redis.on("ready", () => {
    connectError = undefined;
  });
  const shard: Shard = {
    name: () => undefined,
    address: () => undefined,
    // ioredis reports a broken connection as ready until its `close` event, but refuses commands.
    isReady: () => redis.status === "ready" && redis.stream.writable,
    onLoss: (listener) => void redis.on("close", listener),
    connectError: () => connectError,
    connect() {},
    reconnect() {
      if (redis.status === "ready") redis.disconnect(true);
    },
    accountToProbe: (account = "") => account,
  };
  return { slotCount: 1, slotOf: () => 0, shardOf: () => shard, all: () => [shard], onMove() {} };
}

function open(config: RedisConfig): { readonly redis: Redis | Cluster; disconnect(): void } {
  const { urls, isCluster } = config;
  const [url = ""] = urls;
  const sentinelUrl = readSentinelUrl(url);
  if (sentinelUrl !== undefined) return openBehindSentinel(sentinelUrl, config, connectionOptions);
  const redis = isCluster ? openCluster(urls) : new Redis(url, connectionOptions);
  return { redis, disconnect: () => redis.disconnect() };
}

function openCluster(urls: readonly string[]): Cluster {
  const [first = new URL("redis://")] = urls.map((url) => new URL(url));
  const redis = new Cluster([...urls], {
    ...clusterOptions,
    redisOptions: {
      ...connectionOptions,
      ...(first.username && { username: decodeURIComponent(first.username) }),
      ...(first.password && { password: decodeURIComponent(first.password) }),
      ...(first.protocol === "rediss:" && { tls: {} }),
    },
  });
  // ioredis sends ASKING before a call that a node redirects while a slot moves, and does not catch its rejection, which would
  // end the process. The call fails by itself.
  redis.on("+node", (node: Redis) => {
    const ask = node.asking.bind(node);
    node.asking = () => {
      const asked = ask();
      asked.catch(() => {});
      return asked;
    };
  });
  // A MOVED reply during a disconnect adds a node that ioredis never closes. So we disconnect again after 100 ms. A normal
  // disconnect ends within a few milliseconds.
  redis.on("disconnecting", () => {
    setTimeout(() => redis.status === "disconnecting" && redis.disconnect(true), stuckAfterMs).unref();
  });
  return redis;
}

/** The defaults retry, queue and resend: a request would hang while Redis is unavailable, or be counted twice. */
const connectionOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  // For the commands that ioredis sends while it connects. Our own calls have the breaker's shorter deadline.
  commandTimeout: connectionTimeoutMs,
  connectTimeout: connectionTimeoutMs,
  // A paused server would never close its end.
  disconnectTimeout: 1,
  retryStrategy: jitteredDelayMs,
  // The check calls INFO, and prints to standard error if the user may not do that. We do not need it: a server that is
  // loading, or that became a replica, refuses the scripts, and then the breaker probes until a server accepts them.
  enableReadyCheck: false,
} satisfies RedisOptions;

const clusterOptions = {
  // Set for the cluster, because ioredis overrides this option in `redisOptions`.
  enableOfflineQueue: false,
  maxRedirections: 3,
  // A call that a node refused is sent again. A call whose connection broke is not: it may have been executed.
  retryDelayOnClusterDown: 20,
  retryDelayOnTryAgain: 20,
  retryDelayOnFailover: 0,
  // Nodes do not reconnect by themselves: ioredis cannot end a reconnecting node, and would wait for ever.
  clusterNodeRetryStrategy: null,
  clusterRetryStrategy: jitteredDelayMs,
  slotsRefreshTimeout: connectionTimeoutMs,
} satisfies ClusterOptions;

function jitteredDelayMs(attempt: number): number {
  return Math.min(50 * attempt, 500) * (0.5 + Math.random());
}
