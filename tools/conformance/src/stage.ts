import { openRedisServer, type RedisServer } from "@petstore/harness/redis";
import { type DescribedAnswers, openDescribedAnswers } from "./described-answers.js";
import { type Service, type ServiceName, startService } from "./service.js";
import { openStore, type Store } from "./store.js";

/** What every section starts from: one real PostgreSQL, one real Redis, and services as processes of their own. */
export interface Stage {
  readonly store: Store;
  readonly redis: RedisServer;
  /** What whoever asks REST tells its answers to. */
  readonly described: DescribedAnswers;
  /** At once, and all over the same database and Redis. Whoever starts them disposes of them. */
  startServices(names: readonly ServiceName[], environment?: Readonly<Record<string, string>>): Promise<Services>;
}

export interface Services extends AsyncDisposable {
  readonly all: readonly Service[];
  /** The first of that name. */
  originOf(name: ServiceName): string;
}

export interface OpenedStage extends Stage, AsyncDisposable {}

export async function openStage(): Promise<OpenedStage> {
  const redis = await openRedisServer();
  const store = await openStore().catch(async (error: unknown) => {
    await redis[Symbol.asyncDispose]();
    throw error;
  });
  const described = openDescribedAnswers();
  return {
    store,
    redis,
    described,
    async startServices(names, environment = {}) {
      const all = {
        DATABASE_URL: store.databaseUrl,
        REDIS_URL: redis.url,
        QUOTA_INSTANCES: `${names.length}`,
        // Every caller of a section comes from this machine, and tells another address.
        TRUST_PROXY: "127.0.0.1",
        // A busy machine must not send a quota to its fallback: what is compared here is not speed.
        REDIS_COMMAND_TIMEOUT_MS: "5000",
        // Nor may it make them turn requests away.
        SHED_EVENT_LOOP_DELAY_MS: "0",
        ...environment,
      };
      const starts = await Promise.allSettled(names.map((name) => startService(name, all)));
      const started = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
      const dispose = async (): Promise<void> => {
        await Promise.all(started.map((service) => service[Symbol.asyncDispose]()));
      };
      const fault = starts.find((start) => start.status === "rejected");
      if (fault !== undefined) {
        await dispose();
        throw fault.reason;
      }
      for (const [index, { origin }] of started.entries()) if (names[index] === "rest") await described.read(origin);
      return {
        all: started,
        originOf(name) {
          const service = started[names.indexOf(name)];
          if (service === undefined) throw new Error(`no ${name} service was started`);
          return service.origin;
        },
        [Symbol.asyncDispose]: dispose,
      };
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
    },
  };
}
