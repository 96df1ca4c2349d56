import { once } from "node:events";
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from "ioredis";
import type { SharedConnection } from "./fallback/breaker.js";

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

const timeoutMs = 1_000;
/** Nodes are dropped within a few milliseconds. */
const stuckAfterMs = 100;

/** Resolves when the connection is ready, or its first attempt has failed: it goes on trying by itself. */
export async function openRedis({ urls, isCluster }: RedisConfig): Promise<RedisConnection> {
  const lost: (() => void)[] = [];
  const opened = isCluster ? openCluster(urls) : openSingle(urls[0] ?? "");
  const { redis } = opened;
  redis.on("close", onLoss);
  redis.on("+node", (node: Redis) => node.on("close", onLoss));
  // Each failed attempt emits one. Whoever needs the connection logs its absence, once.
  redis.on("error", () => {});
  await once(redis, "ready", { signal: AbortSignal.timeout(timeoutMs) }).catch(() => {});
  await opened.connected();

  function onLoss(): void {
    for (const listener of lost) listener();
  }

  return {
    redis,
    isReady: opened.isReady,
    onLoss: (listener) => void lost.push(listener),
    reconnect() {
      if (redis.status === "ready") redis.disconnect(true);
    },
    [Symbol.dispose]: () => redis.disconnect(),
  };
}

interface Opened {
  readonly redis: Redis | Cluster;
  isReady(): boolean;
  /** Once it is ready itself, when all connections it consists of are, or cannot be, made. */
  connected(): Promise<unknown>;
}

function openSingle(url: string): Opened {
  const redis = new Redis(url, connectionOptions);
  return {
    redis,
    // A connection that broke is still called ready until its end has been told; what is sent to it then is refused.
    isReady: () => redis.status === "ready" && redis.stream.writable,
    connected: async () => {},
  };
}

/** ioredis connects to a node when it is first needed, and has the calls fail that come before it is connected. */
function openCluster(urls: readonly string[]): Opened {
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
  // A redirection that arrives while ioredis drops its nodes adds one, and ioredis then waits for its end for ever. After
  // a disconnection that was meant to be the last, this one changes nothing.
  redis.on("disconnecting", () => {
    setTimeout(() => redis.status === "disconnecting" && redis.disconnect(true), stuckAfterMs).unref();
  });
  let connecting: Promise<unknown> = Promise.resolve();
  redis.on("ready", () => {
    const masters = redis.nodes("master").filter(({ status }) => status === "wait");
    connecting = Promise.allSettled(masters.map((master) => master.connect()));
  });
  return {
    redis,
    isReady: () => redis.status === "ready" && redis.nodes("master").every(({ status }) => canTakeCalls.has(status)),
    connected: () => connecting,
  };
}

/** One that waits for its first call keeps that call until it is connected. */
const canTakeCalls: ReadonlySet<string> = new Set(["ready", "wait"]);

/** The defaults retry, queue and resend: a request would hang while Redis is away, or be counted twice. */
const connectionOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  // For what ioredis itself asks while it connects: our own calls have the breaker's deadline, which is shorter.
  commandTimeout: timeoutMs,
  connectTimeout: timeoutMs,
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
  // What a node refused is sent again. What broke off with its connection is not: it may have been executed.
  retryDelayOnClusterDown: 20,
  retryDelayOnTryAgain: 20,
  retryDelayOnFailover: 0,
  // Nodes do not reconnect by themselves: ioredis cannot end one that is about to, and would wait for its end for ever.
  clusterNodeRetryStrategy: null,
  clusterRetryStrategy: jitteredDelayMs,
  slotsRefreshTimeout: timeoutMs,
} satisfies ClusterOptions;

function jitteredDelayMs(attempt: number): number {
  return Math.min(50 * attempt, 500) * (0.5 + Math.random());
}
