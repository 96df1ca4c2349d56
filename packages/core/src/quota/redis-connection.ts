import { once } from "node:events";
import { Cluster, Redis, type RedisOptions } from "ioredis";
import type { Log } from "../log.js";
import type { SharedConnection } from "./breaker.js";

export interface RedisConfig {
  /** One address, or the nodes of a cluster. `redis:` or, with TLS, `rediss:`; credentials as in any URL. */
  readonly urls: readonly string[];
  readonly isCluster: boolean;
  /** How long a decision may take before this instance decides alone. */
  readonly commandTimeoutMs: number;
}

export interface RedisConnection extends SharedConnection, Disposable {
  readonly redis: Redis | Cluster;
}

/** Resolves when the connection is ready, or after a second without: it goes on trying by itself. */
export async function openRedis(config: RedisConfig, log: Log): Promise<RedisConnection> {
  const redis = config.isCluster ? openCluster(config) : openSingle(config);
  // Each failed attempt emits one. Whoever needs the connection logs its absence, once.
  redis.on("error", () => {});
  redis.on("ready", () => log.info({}, "connected to Redis"));
  await once(redis, "ready", { signal: AbortSignal.timeout(1_000) }).catch(() => {});
  return {
    redis,
    isReady: () => redis.status === "ready",
    reconnect: () => redis.disconnect(true),
    [Symbol.dispose]: () => redis.disconnect(),
  };
}

function openSingle({ urls: [url = ""], commandTimeoutMs }: RedisConfig): Redis {
  return new Redis(url, { ...connectionOptions(commandTimeoutMs), enableOfflineQueue: false });
}

function openCluster({ urls, commandTimeoutMs }: RedisConfig): Cluster {
  const [first = new URL("redis://")] = urls.map((url) => new URL(url));
  return new Cluster([...urls], {
    // On the cluster itself: among redisOptions it would change nothing.
    enableOfflineQueue: false,
    maxRedirections: 3,
    retryDelayOnFailover: 20,
    retryDelayOnClusterDown: 20,
    retryDelayOnTryAgain: 20,
    slotsRefreshTimeout: 1_000,
    clusterRetryStrategy: jitteredDelayMs,
    redisOptions: {
      ...connectionOptions(commandTimeoutMs),
      ...(first.username && { username: decodeURIComponent(first.username) }),
      ...(first.password && { password: decodeURIComponent(first.password) }),
      ...(first.protocol === "rediss:" && { tls: {} }),
    },
  });
}

/** The defaults retry, queue and resend: a request would hang while Redis is away, or be counted twice. */
function connectionOptions(commandTimeoutMs: number) {
  return {
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandTimeoutMs,
    connectTimeout: 1_000,
    retryStrategy: jitteredDelayMs,
    // A server that became a replica, or is still loading: another connection may find another one.
    reconnectOnError: ({ message }: Error) => /^(READONLY|LOADING)/.test(message),
  } satisfies RedisOptions;
}

function jitteredDelayMs(attempt: number): number {
  return Math.min(50 * attempt, 500) * (0.5 + Math.random());
}
