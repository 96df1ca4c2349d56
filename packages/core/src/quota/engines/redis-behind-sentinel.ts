/**
 * A connection to the primary that Sentinel names. ioredis asks the sentinels for the primary at each new connection. We also
 * watch the sentinels, to leave an old primary that stopped answering and then continues (decision 0021).
 */
import { lookup } from "node:dns/promises";
import { Redis, type RedisOptions } from "ioredis";
import type { SentinelAddress, SentinelUrl } from "./sentinel-url.js";

/** The login to the sentinels. `REDIS_URL` holds the login to the Redis. */
export interface SentinelLogin {
  readonly sentinelUsername?: string | undefined;
  readonly sentinelPassword?: string | undefined;
}

/** After this time, ioredis asks the next sentinel. With two silent sentinels, a recovery still takes less than 2 s. */
const sentinelTimeoutMs = 500;

/** Short, because the sentinels name the new primary up to a second after its promotion. */
const retryDelayMs = (): number => 100 + 200 * Math.random();

export function openBehindSentinel(
  { sentinels, name, username, password, isTls }: SentinelUrl,
  login: SentinelLogin,
  options: Omit<RedisOptions, "replyMapping">,
): { readonly redis: Redis; disconnect(): void } {
  const { sentinelUsername, sentinelPassword } = login;
  const redis = new Redis({
    ...options,
    sentinels: [...sentinels],
    name,
    ...withoutEmpty({ username, password, sentinelUsername, sentinelPassword }),
    ...(isTls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
    sentinelCommandTimeout: sentinelTimeoutMs,
    retryStrategy: retryDelayMs,
    sentinelRetryStrategy: retryDelayMs,
    // ioredis must ask only the sentinels of the URL, because only these are watched.
    updateSentinels: false,
  });
  const watches = sentinels.map((sentinel) => {
    const watch = openSentinel(sentinel, isTls, login, retryDelayMs);
    watch.on("message", (_channel, text: string) => void follow(text));
    // `subscribe` rejects if the connection ends or the user may not subscribe. `petstore doctor` reports such a user.
    watch.on("ready", () => void watch.subscribe("+switch-master").catch(() => {}));
    return watch;
  });

  /** Reads `<name> <old host> <old port> <new host> <new port>`. The sentinels send it at different times. */
  async function follow(text: string): Promise<void> {
    const [group, , , host = "", port] = text.split(" ");
    if (group !== name) return;
    // If the look-up of the host fails, ioredis connects again, to the primary that the sentinels name.
    const primary = await lookup(host).catch(() => undefined);
    const leaveOther = () => {
      const { remoteAddress, remotePort } = redis.stream;
      if (remoteAddress !== primary?.address || remotePort !== Number(port)) redis.disconnect(true);
    };
    if (redis.status === "ready" || redis.status === "connect") leaveOther();
    // ioredis never connects again after a disconnect in this state. A sentinel may have named the old primary.
    else if (redis.status === "connecting") redis.once("ready", leaveOther);
  }

  return {
    redis,
    disconnect() {
      redis.disconnect();
      for (const watch of watches) watch.disconnect();
    },
  };
}

/** A connection to the sentinel itself. Commands wait for the connection, until `retryStrategy` returns `null`. */
export function openSentinel(
  address: SentinelAddress,
  isTls: boolean,
  { sentinelUsername, sentinelPassword }: SentinelLogin,
  retryStrategy: () => number | null,
): Redis {
  const sentinel = new Redis({
    ...address,
    ...withoutEmpty({ username: sentinelUsername, password: sentinelPassword }),
    ...(isTls && { tls: {} }),
    retryStrategy,
    connectTimeout: sentinelTimeoutMs,
    disconnectTimeout: 1,
    // Sentinel has no data to load.
    enableReadyCheck: false,
    // ioredis does not catch the rejection of its own subscription, which would end the process.
    autoResubscribe: false,
    maxRetriesPerRequest: null,
  });
  // Each failed attempt emits an error. Without a listener, ioredis would print it.
  sentinel.on("error", () => {});
  return sentinel;
}

/** Leaves out the values that are not set. ioredis would log in with an empty one. */
function withoutEmpty<Name extends string>(
  login: Readonly<Record<Name, string | undefined>>,
): Partial<Record<Name, string>> {
  const isSet = ([, value]: [string, string | undefined]) => value !== undefined && value !== "";
  return Object.fromEntries(Object.entries<string | undefined>(login).filter(isSet)) as Partial<Record<Name, string>>;
}
