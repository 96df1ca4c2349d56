import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { digestApiKey, type Limits, migrate, mintApiKey, openCore, readConfig } from "@petstore/core";
import { createTestDatabase, grantService, isRedisInstalled } from "@petstore/harness";
import { graphqlMain, restMain, type Service, startService } from "@petstore/harness/processes";
import { openRedisServer, type RedisServer } from "@petstore/harness/redis";

export interface RunningStoreOptions {
  /** One process for each name. */
  readonly services?: readonly ServiceName[];
  readonly environment?: Readonly<Record<string, string>>;
  /** By default a new database of the test run. */
  readonly databaseUrl?: string;
  /** Loads the probes of `Service`. */
  readonly isProbed?: boolean;
}

export type ServiceName = "rest" | "graphql";

/** Services in processes of their own over one PostgreSQL, and one Redis if it is installed. */
export interface RunningStore extends AsyncDisposable {
  readonly services: readonly Service[];
  /** The origin of the first service with this name. */
  originOf(name: ServiceName): string;
  /** Undefined if Redis is not installed. */
  readonly redis: RedisServer | undefined;
  openAccount(limits?: Limits): Promise<Account>;
  addPets(count: number, name: string): Promise<void>;
}

interface Account {
  issueKey(life?: KeyLife): Promise<string>;
}

export type KeyLife = "valid" | "revoked" | "expired";

/** Limits that no test uses up. */
export const roomy: Limits = { perMinute: 1_000_000, perDay: 1_000_000 };
const log = { info() {}, warn() {}, error() {} };

export async function openRunningStore(options: RunningStoreOptions = {}): Promise<RunningStore> {
  const { services: names = ["rest", "graphql"], environment = {}, isProbed = false } = options;
  const opened: AsyncDisposable[] = [];
  const use = <Resource extends AsyncDisposable>(resource: Resource): Resource => {
    opened.push(resource);
    return resource;
  };
  const redis = isRedisInstalled() ? use(await openRedisServer()) : undefined;
  const database = options.databaseUrl === undefined ? use(await createTestDatabase()) : undefined;
  const databaseUrl = options.databaseUrl ?? database?.directUrl ?? "";
  await migrate(databaseUrl);
  const core = use(await openCore(readConfig({ DATABASE_URL: databaseUrl }), { log, now: Date.now }));
  const settings = {
    DATABASE_URL: database === undefined ? databaseUrl : await grantService(database),
    LOG_LEVEL: "warn",
    QUOTA_INSTANCES: `${names.length}`,
    ...(redis && { REDIS_URL: redis.url }),
    // Tests call from this machine and report other client addresses.
    TRUST_PROXY: "127.0.0.1",
    // A busy machine must not cause the fallback of the quota, nor refusals by overload.
    REDIS_COMMAND_TIMEOUT_MS: "5000",
    SHED_EVENT_LOOP_DELAY_MS: "0",
    ...environment,
  };
  const starts = names.map((name) => {
    const main = name === "rest" ? restMain : graphqlMain;
    return startService({ main, environment: settings, isProbed });
  });
  const services = (await Promise.all(starts)).map(use);
  return {
    services,
    redis,
    originOf(name) {
      const service = services[names.indexOf(name)];
      if (service === undefined) throw new Error(`no ${name} service was started`);
      return service.origin;
    },
    async openAccount(customLimits = roomy) {
      const name = randomBytes(8).toString("hex");
      const account = await core.accounts.create({ name, plan: "enterprise", customLimits });
      if (account === undefined) throw new Error("the name of a new account is taken");
      return {
        async issueKey(life = "valid") {
          const key = mintApiKey("test", randomBytes);
          const expiry = life === "expired" && { expiresAt: new Date(Date.now() - 1_000) };
          const { id } = await core.keys.add({ accountId: account.id, digest: digestApiKey(key), ...expiry });
          if (life === "revoked") await core.keys.revoke(id);
          return key;
        },
      };
    },
    async addPets(count, name) {
      for (let index = 0; index < count; index += 1) {
        await core.catalogue.create({ accountId: 0n, input: { name, categoryId: BigInt(index) } });
      }
    },
    async [Symbol.asyncDispose]() {
      for (const resource of opened.reverse()) await resource[Symbol.asyncDispose]();
    },
  };
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
