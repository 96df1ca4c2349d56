import { type KeyScope, type Limits, migrate } from "@petstore/core";
import { createTestDatabase } from "@petstore/harness";
import { nowMs } from "@petstore/harness/network";
import { openPostgresServer, type PostgresServer } from "@petstore/harness/postgres";
import { type StandaloneStore, startStandaloneStoreIn } from "@petstore/harness/processes";
import { openRedisServer, type RedisServer } from "@petstore/harness/redis";
import { it as base, type Figures } from "@petstore/harness/test-with-figures";
import { waitPastMidnight } from "@petstore/harness/wait-past-midnight";
import { openStoreDatabase, type StoreDatabase } from "@petstore/test-store/store-database";
import { standaloneMain } from "../../programs.js";
import { oneOfEach, rest } from "./apis.js";
import { type CreatesOptions, type Load, type LoadOptions, startCreates, startLoad, type Target } from "./load.js";
import { countOracles } from "./oracles.js";
import type { Result } from "./results.js";
import { type Instance, type Service, type Settings, startService } from "./services.js";

/** Everything that a test starts, and the evidence for the oracles. */
export type Environment = ReturnType<typeof openEnvironment>;

interface AccountLoadOptions extends Partial<LoadOptions> {
  /** For a new account. Unlimited by default. */
  readonly limits?: Limits;
}

interface BurstOptions extends AccountLoadOptions {
  readonly requests: number;
}

const unlimited: Limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };

/** Longer than a test takes. */
const testMs = 10 * 60_000;

/** A test with an environment. The oracles run after it. */
export const it = base.extend<{ environment: Environment }>({
  environment: async ({ figures, task }, use) => {
    await waitPastMidnight(testMs);
    await using created = await createTestDatabase();
    await migrate(created.url);
    await using database = openStoreDatabase(created.url);
    await using environment = openEnvironment(database, figures);
    await use(environment);
    if (task.result?.state !== "fail") await environment.checkOracles();
  },
});

function openEnvironment(emptyDatabase: StoreDatabase, figures: Figures) {
  let database = emptyDatabase;
  let settings: Settings = {};
  let mayFail = false;
  const services: Service[] = [];
  const killed = new Set<Service>();
  const loads: Pick<Load, "results" | "stop">[] = [];
  const logs: { readonly output: readonly string[]; readonly shownKey?: string }[] = [];
  const faultTimes: number[] = [];
  const resources: AsyncDisposable[] = [];

  const environment = {
    services: services as readonly Service[],
    get database(): StoreDatabase {
      return database;
    },

    /** Migrates this existing database. The services use it from now on. */
    async useDatabase(url: string): Promise<void> {
      await migrate(url);
      database = environment.use(openStoreDatabase(url));
    },
    /** Starts a PostgreSQL that the test can harm. The services use it from now on. */
    async openPostgres(): Promise<PostgresServer> {
      const server = environment.use(await openPostgresServer());
      await environment.useDatabase(server.url);
      return server;
    },

    /** Starts services, one of each API by default, and warms them up. Without REDIS_URL each counts for itself. */
    async startServices(
      chosen: Settings = {},
      instances: readonly Instance[] = oneOfEach,
    ): Promise<readonly Service[]> {
      settings = {
        DATABASE_URL: database.url,
        QUOTA_INSTANCES: `${instances.length}`,
        // Every connection of a test has the same address. They represent clients with many addresses.
        MAX_CONNECTIONS_PER_ADDRESS: "0",
        // The load ignores refusals.
        BAN_STRIKES: "0",
        ...chosen,
      };
      const started = await environment.startMore(instances);
      await environment.startLoad({ clients: 16, pauseMs: 0, requests: 1_500 });
      return started;
    },
    async startService(chosen: Settings, instance: Instance = {}): Promise<Service> {
      const [service] = await environment.startServices(chosen, [instance]);
      if (service === undefined) throw new Error("the service was not started");
      return service;
    },
    /** SIGKILL, effective before this returns. The oracles do not take its end for an error. */
    async kill(service: Service | undefined): Promise<void> {
      if (service === undefined) throw new Error("there is no such service");
      killed.add(service);
      await service.kill();
    },
    /** Starts more services with the settings of the first ones. */
    async startMore(instances: readonly Instance[]): Promise<readonly Service[]> {
      const started = await Promise.all(instances.map((instance) => startService(instance, settings)));
      services.push(...started);
      logs.push(...started);
      return started;
    },
    /** Starts Redis and services that share it. */
    async startWithRedis(chosen?: Settings, instances?: readonly Instance[]): Promise<RedisServer> {
      const redis = environment.use(await openRedisServer());
      await environment.startServices({ REDIS_URL: redis.url, ...chosen }, instances);
      return redis;
    },
    /** Starts the program of `npm start` in this directory. It is stopped in order, so that it ends its PostgreSQL. */
    async startStore(path: string): Promise<StandaloneStore & Target> {
      const store = environment.use(await startStandaloneStoreIn(standaloneMain, path, { BAN_STRIKES: "0" }));
      // The first start shows the key of the demo account on purpose.
      logs.push({ output: store.output, shownKey: store.demoKey });
      return { ...store, api: rest };
    },
    async issueKey(limits: Limits = unlimited, scope: KeyScope = "both"): Promise<string> {
      return (await database.issueKey({ customLimits: limits, scope })).key;
    },
    /**
     * Starts the load of one account, a new one by default, on all services by default. With a number of requests, this
     * resolves at the end of the load.
     */
    async startLoad({ limits, ...options }: AccountLoadOptions = {}): Promise<Load & { readonly apiKey: string }> {
      const apiKey = options.apiKey ?? (await environment.issueKey(limits));
      const load = startLoad({ targets: services, clients: 64, pauseMs: 150, ...options, apiKey });
      loads.push(load);
      if (options.requests !== undefined) await load.done;
      return { ...load, apiKey };
    },
    async startCreates(options: Omit<CreatesOptions, "apiKey">): Promise<Load> {
      const creates = startCreates({ ...options, apiKey: await environment.issueKey() });
      loads.push(creates);
      return creates;
    },
    /** Sends the requests, lists by default, as fast as they are answered. */
    async sendBurst(options: BurstOptions): Promise<readonly Result[]> {
      return (await environment.startLoad({ call: ({ list }) => list, pauseMs: 0, ...options })).results;
    },
    /** Gives results to the oracles that no load has. */
    keep: (results: readonly Result[]) => void loads.push({ results, stop: async () => {} }),
    /** Notes that a fault begins or ends now. */
    markFault(): number {
      const atMs = nowMs();
      faultTimes.push(atMs);
      return atMs;
    },
    /** Closes the resource after the test. */
    use<Resource extends AsyncDisposable>(resource: Resource): Resource {
      resources.push(resource);
      return resource;
    },
    /** The fault makes requests fail. The test checks which ones. */
    allowFailures: () => {
      mayFail = true;
    },
    async checkOracles(): Promise<void> {
      const ended = services.filter((service) => service.hasEnded() && !killed.has(service));
      const exits = await Promise.all(ended.map((service) => service.ended));
      figures.count(0, "services that ended with an error", exits, (exit) => exit !== 0);
      const outputs = logs.map(({ output, shownKey = "" }) => output.map((line) => line.replace(shownKey, "")));
      const results = loads.map((load) => load.results);
      const oracles = await countOracles({ loads: results, outputs, faultTimes }, database);
      const { "failed requests": failed, ...others } = oracles;
      const requests = results.flat();
      for (const [what, number] of Object.entries(others)) {
        figures.exactly(0, `${what}, in ${requests.length} requests`, number);
      }
      const reasons = [...new Set(requests.flatMap(({ failure }) => failure ?? []))].join(", ");
      if (!mayFail) figures.exactly(0, `failed requests${reasons && ` (${reasons})`}`, failed);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all(loads.map((load) => load.stop()));
      await Promise.all(services.map((service) => service[Symbol.asyncDispose]()));
      for (const resource of resources.reverse()) await resource[Symbol.asyncDispose]();
    },
  };
  return environment;
}
