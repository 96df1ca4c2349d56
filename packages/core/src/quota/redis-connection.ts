import { once } from "node:events";
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from "ioredis";
import type { SharedConnection } from "./breaker.js";

export interface RedisConfig {
  /** One address, or several nodes of a cluster. `redis:` or, with TLS, `rediss:`; credentials as in any URL. */
  readonly urls: readonly string[];
  readonly isCluster: boolean;
  /** How long a decision may take before this instance decides alone. */
  readonly commandTimeoutMs: number;
}

export interface RedisConnection extends SharedConnection, Disposable {
  readonly redis: Redis | Cluster;
}

const patienceMs = 1_000;

/** Resolves when the connection is ready, or its first attempt has failed: it goes on trying by itself. */
export async function openRedis({ urls, isCluster }: RedisConfig): Promise<RedisConnection> {
  const lost: (() => void)[] = [];
  const onClose = () => {
    for (const listener of lost) listener();
  };
  const redis = isCluster ? openCluster(urls) : new Redis(urls[0] ?? "", connectionOptions);
  redis.on("close", onClose);
  if (isCluster) redis.on("+node", (node: Redis) => node.on("close", onClose));
  // Each failed attempt emits one. Whoever needs the connection logs its absence, once.
  redis.on("error", () => {});
  await once(redis, "ready", { signal: AbortSignal.timeout(patienceMs) }).catch(() => {});
  return {
    redis,
    isReady: () => redis.status === "ready",
    onLoss: (listener) => void lost.push(listener),
    reconnect() {
      if (redis.status === "ready") redis.disconnect(true);
    },
    [Symbol.dispose]: () => redis.disconnect(),
  };
}

function openCluster(urls: readonly string[]): Cluster {
  const [first = new URL("redis://")] = urls.map((url) => new URL(url));
  return new Cluster([...urls], {
    ...clusterOptions,
    redisOptions: {
      ...connectionOptions,
      ...(first.username && { username: decodeURIComponent(first.username) }),
      ...(first.password && { password: decodeURIComponent(first.password) }),
      ...(first.protocol === "rediss:" && { tls: {} }),
    },
  });
}

/** The defaults retry, queue and resend: a request would hang while Redis is away, or be counted twice. */
const connectionOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  // For what ioredis itself asks while it connects: our own calls have the breaker's deadline, which is shorter.
  commandTimeout: patienceMs,
  connectTimeout: patienceMs,
  // A stopped server would never close its end.
  disconnectTimeout: 1,
  retryStrategy: jitteredDelayMs,
  // A server that became a replica, or is still loading: another connection may find another one.
  reconnectOnError: ({ message }: Error) => /^(READONLY|LOADING)/.test(message),
} satisfies RedisOptions;

const clusterOptions = {
  // On the cluster itself: ioredis overrules it among the redisOptions.
  enableOfflineQueue: false,
  maxRedirections: 3,
  // What the cluster has refused, or was not sent because a node is only being connected, is sent again.
  retryDelayOnFailover: 20,
  retryDelayOnClusterDown: 20,
  retryDelayOnTryAgain: 20,
  // Without it, a call whose answer was lost with its node's connection would count as not sent, and be sent twice.
  clusterNodeRetryStrategy: jitteredDelayMs,
  clusterRetryStrategy: jitteredDelayMs,
  slotsRefreshTimeout: patienceMs,
} satisfies ClusterOptions;

function jitteredDelayMs(attempt: number): number {
  return Math.min(50 * attempt, 500) * (0.5 + Math.random());
}
