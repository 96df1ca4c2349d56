import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Limits, migrate } from "@petstore/core";
import { createTestDatabase, grantService } from "@petstore/harness";
import { isInstalled, openTogether, type Service, startService } from "@petstore/harness/processes";
import { openRedisServer } from "@petstore/harness/redis";
import { type IssueOptions, openStoreDatabase, unhurried } from "@petstore/test-store/store-database";
import { mintUnknownKey } from "../faults/environment/apis.js";
import { graphqlMain, restMain } from "../programs.js";
import { keyEnds } from "./key-ends.js";

interface RunningStoreOptions {
  readonly services?: readonly ServiceName[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Loads the probe of `Service`. */
  readonly isProbed?: boolean;
}

export type ServiceName = "rest" | "graphql";

/** The options of keys that are stored. */
const storedKeys = {
  valid: {},
  ending: { expiresAt: keyEnds.ending },
  "ending in 30 days": { expiresAt: keyEnds["ending in 30 days"] },
  "ending in 31 days": { expiresAt: keyEnds["ending in 31 days"] },
  expired: { expiresAt: keyEnds.expired },
  revoked: { revokedAt: keyEnds.revoked },
  suspended: { isSuspended: true },
  read: { scope: "read" },
  write: { scope: "write" },
  test: { mode: "test" },
} as const satisfies Readonly<Record<string, IssueOptions>>;

/** `read` and `write` are scopes. `test` is a valid key for test stores, and the services here are none. */
export type KeyKind = keyof typeof storedKeys | "malformed" | "unknown";

/** Services in processes of their own over one PostgreSQL, and one Redis if it is installed. */
export function openRunningStore(options: RunningStoreOptions = {}) {
  const { services: names = ["rest", "graphql"], environment = {}, isProbed = false } = options;
  return openTogether(async (use) => {
    const redis = isInstalled("redis-server") ? use(await openRedisServer()) : undefined;
    const database = use(await createTestDatabase());
    await migrate(database.directUrl);
    const settings = {
      DATABASE_URL: await grantService(database),
      LOG_LEVEL: "warn",
      QUOTA_INSTANCES: `${names.length}`,
      ...(redis && { REDIS_URL: redis.url }),
      // Tests call from this machine and report other client addresses.
      TRUST_PROXY: "127.0.0.1",
      ...unhurried,
      // A busy machine must not cause the fallback of the quota, nor refusals by overload.
      REDIS_COMMAND_TIMEOUT_MS: "5000",
      SHED_EVENT_LOOP_DELAY_MS: "0",
      ...environment,
    };
    const start = (name: ServiceName, place: { readonly port?: number } = {}): Promise<Service> =>
      startService({ main: name === "rest" ? restMain : graphqlMain, environment: settings, isProbed, ...place });
    const services = (await Promise.all(names.map((name) => start(name)))).map(use);
    const serviceOf = (name: ServiceName): Service => {
      const service = services[names.indexOf(name)];
      if (service === undefined) throw new Error(`no ${name} service was started`);
      return service;
    };
    const storeDatabase = use(openStoreDatabase(database.directUrl));
    return {
      database: storeDatabase,
      /** Returns a new key of a new account. */
      async issueKey(kind: KeyKind, customLimits?: Limits): Promise<string> {
        if (kind === "malformed") return "pets_test_nonsense";
        if (kind === "unknown") return mintUnknownKey();
        const options = { ...storedKeys[kind], ...(customLimits && { customLimits }) };
        return (await storeDatabase.issueKey(options)).key;
      },
      /** In the order of the option `services`. */
      services,
      /** The first service with this name. */
      serviceOf,
      originOf: (name: ServiceName) => serviceOf(name).origin,
      /** Kills the service, and starts it again on its port. */
      async killAndRestart(name: ServiceName): Promise<void> {
        const killed = serviceOf(name);
        await killed.kill();
        services[names.indexOf(name)] = use(await start(name, { port: killed.port }));
      },
    };
  });
}

/** An address that no request has used, because requests without a valid key are counted by address. */
export function newAddress(): string {
  const digits = randomBytes(4).toString("hex");
  return `2001:db8:${digits.slice(0, 4)}:${digits.slice(4)}::1`;
}

/** Waits for the next UTC minute if less than this is left of the current one. */
export async function startWithinMinute(durationMs: number): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < durationMs) await sleep(leftMs + 50);
}

/** Repeats the attempt if a UTC minute ended during it, because its counts are then of two minutes. */
export async function withinOneMinute(attempt: () => Promise<void>): Promise<void> {
  for (let minute: number | undefined; minute !== currentMinute(); ) {
    minute = currentMinute();
    try {
      await attempt();
      return;
    } catch (error) {
      if (minute === currentMinute()) throw error;
    }
  }
}

function currentMinute(): number {
  return Math.floor(Date.now() / 60_000);
}
