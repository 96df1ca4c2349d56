import { setTimeout as sleep } from "node:timers/promises";
import type { Limits } from "@petstore/core";
import { openPostgresServer, type PostgresServer } from "@petstore/harness/postgres";
import { request } from "undici";
import { type Api, restRouter } from "./api.js";
import { type Answer, nowMs } from "./ask.js";
import { type BurstOptions, burst } from "./burst.js";
import { type Creates, type CreatesOptions, startCreates } from "./creates.js";
import type { Environment } from "./environment.js";
import type { Exchange } from "./exchange.js";
import type { Played, PlayedLoad } from "./oracles.js";
import type { Program } from "./program.js";
import type { RunOptions } from "./scenario.js";
import { type Readiness, type Service, type ServiceOptions, startService } from "./service.js";
import { openStoreAt, type Store } from "./store.js";
import { startTraffic, type Traffic } from "./traffic.js";

/** Where one row is played: what it starts ends with it, and what happens is kept for the oracles. */
export interface Stage extends AsyncDisposable {
  readonly options: RunOptions;
  readonly played: Played;
  /** Of the whole run, unless the row has one of its own. */
  readonly store: Store;
  /** From now on the row has a PostgreSQL of its own, that it can harm. */
  openPostgres(): Promise<PostgresServer>;
  /** From now on the row is about the database that is there. */
  adopt(databaseUrl: string): Promise<void>;
  /** Services that share the quotas of that Redis, warmed up: two of the REST API unless others are named. */
  startServices(
    redisUrls: readonly string[],
    environment?: Environment,
    instances?: readonly Instance[],
  ): Promise<Services>;
  /** The same, counting for themselves and as they start, without having been asked anything. */
  startCold(instances: readonly Instance[], environment?: Environment): Promise<Services>;
  /** Further ones, configured like those before. */
  startMore(instances: readonly Instance[]): Promise<Services>;
  /** Enough requests that what follows is not slower for being among the first. */
  warmUp(): Promise<void>;
  /** Stops a service and starts one in its place; resolves when that is ready. */
  restart(service: Service): Promise<Restarted>;
  /** An account's only load, on all services unless some are named. */
  load(options: LoadOptions): Promise<Load>;
  /** Creates that are repeated until they succeed. */
  create(options: Omit<CreatesOptions, "apiKey">): Promise<Creates>;
  /** Many requests at once, and what they were answered. */
  burst(options: Omit<BurstOptions, "on">, on?: BurstOptions["on"]): Promise<Answer[]>;
  /** What a server that does nothing takes at this moment: so slow is the machine. */
  machineMs(): Promise<number>;
  /** Hands the oracles what was asked otherwise. */
  keep(exchanges: readonly Exchange[]): void;
  /** Hands them the log of a program that is none of its services. */
  hear(program: Pick<Program, "output">): void;
  /** Says that something fails or returns at this moment, which it returns. */
  mark(): number;
  /** What the row has opened beside it; closed last. */
  use<Resource extends AsyncDisposable>(resource: Resource): Resource;
}

export type Services = readonly Service[];

/** A service, but for what all of a row are configured by. */
type Instance = Omit<ServiceOptions, "environment">;

interface LoadOptions {
  readonly limits: Limits;
  /** Of a new one unless it is named. */
  readonly account?: Account;
  readonly on?: readonly { readonly origin: string; readonly api?: Api }[];
  readonly apis?: readonly Api[];
  readonly callers?: number;
  readonly pauseMs?: number;
  readonly requests?: number;
}

interface Restarted {
  readonly service: Service;
  readonly exitCode: number | null;
  readonly stoppedWithinMs: number;
}

interface Account {
  readonly apiKey: string;
  readonly accountId: string;
}

export interface Load extends Traffic, Account {}

export const roomy: Limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };

/** What a row has of the whole run. */
export interface StageDeps {
  readonly store: Store;
  readonly idleOrigin: string;
  readonly options: RunOptions;
}

export function openStage({ store: sharedStore, idleOrigin, options }: StageDeps): Stage {
  let store = sharedStore;
  const services: Service[] = [];
  let common: Environment = {};
  const opened: AsyncDisposable[] = [];
  const played = { loads: [] as PlayedLoad[], programs: [] as Pick<Program, "output">[], marks: [] as number[] };

  async function load({ limits, account, on = services, callers = 64, pauseMs = 150, ...rest }: LoadOptions) {
    const issued = account ?? (await store.issueKey(limits));
    const origins = on.map(({ origin }) => origin);
    const apis = on.map(({ api = restRouter }) => api);
    const traffic = startTraffic({ apis, ...rest, origins, idleOrigin, apiKey: issued.apiKey, callers, pauseMs });
    played.loads.push(traffic);
    return { ...traffic, ...issued };
  }

  async function start(instances: readonly Instance[], environment: Environment) {
    common = {
      DATABASE_URL: store.databaseUrl,
      QUOTA_INSTANCES: `${instances.length}`,
      // All connections of a run come from one address, and stand for clients of many.
      MAX_CONNECTIONS_PER_ADDRESS: "0",
      // The load ignores refusals on purpose.
      BAN_STRIKES: "0",
      ...environment,
    };
    return startMore(instances);
  }

  async function startMore(instances: readonly Instance[]): Promise<Services> {
    const started = await Promise.all(instances.map((instance) => startService({ ...instance, environment: common })));
    services.push(...started);
    for (const service of started) hear(service);
    return started;
  }

  async function adopt(databaseUrl: string): Promise<void> {
    store = await openStoreAt(databaseUrl);
    opened.push(store);
  }

  function keep(exchanges: readonly Exchange[]): void {
    played.loads.push({ exchanges, stop: async () => {} });
  }

  function hear(program: Pick<Program, "output">): void {
    played.programs.push(program);
  }

  async function warmUp(): Promise<void> {
    await (await load({ limits: roomy, callers: 16, pauseMs: 0, requests: 1_500 })).done;
  }

  return {
    options,
    played,
    get store() {
      return store;
    },
    load,
    startMore,
    warmUp,
    async openPostgres() {
      const opening = openPostgresServer();
      // A row may be stopped while it starts.
      opened.push({ [Symbol.asyncDispose]: async () => (await opening)[Symbol.asyncDispose]() });
      const server = await opening;
      await adopt(server.url);
      return server;
    },
    adopt,
    async startServices(redisUrls, environment = {}, instances = [{}, {}]) {
      await start(instances, { REDIS_URL: redisUrls.join(), ...environment });
      await warmUp();
      return services;
    },
    startCold: (instances, environment = {}) => start(instances, environment),
    async create(createsOptions) {
      const { apiKey } = await store.issueKey(roomy);
      const creates = startCreates({ ...createsOptions, apiKey });
      played.loads.push(creates);
      return creates;
    },
    async burst(burstOptions, on = services) {
      const answers = await burst({ ...burstOptions, on });
      keep(answers);
      return answers;
    },
    async machineMs() {
      const startMs = performance.now();
      await (await request(idleOrigin)).body.dump();
      return performance.now() - startMs;
    },
    keep,
    hear,
    async restart({ api, port, stop }) {
      const { exitCode, withinMs: stoppedWithinMs } = await stop();
      const service = await startService({ api, port, environment: common });
      services.push(service);
      hear(service);
      await millisecondsUntil("ready", [service]);
      return { service, exitCode, stoppedWithinMs };
    },
    mark() {
      const atMs = nowMs();
      played.marks.push(atMs);
      return atMs;
    },
    use(resource) {
      opened.push(resource);
      return resource;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(played.loads.map((traffic) => traffic.stop()));
      await Promise.all(services.map((service) => service[Symbol.asyncDispose]()));
      for (const resource of opened.reverse()) await resource[Symbol.asyncDispose]();
    },
  };
}

/** How long until all of them say so; infinite when they do not in time. */
export async function millisecondsUntil(
  readiness: Readiness,
  services: readonly Service[],
  timeoutMs = 15_000,
): Promise<number> {
  const startMs = performance.now();
  while (performance.now() - startMs < timeoutMs) {
    const all = await Promise.all(services.map((service) => service.readiness()));
    if (all.every((one) => one === readiness)) return performance.now() - startMs;
    await sleep(20);
  }
  return Number.POSITIVE_INFINITY;
}

/** Waits, if need be, for the next minute, so that what takes so long stays within one. */
export async function withinOneMinute(durationMs: number): Promise<void> {
  const leftMs = 60_000 - (nowMs() % 60_000);
  if (leftMs < durationMs) await sleep(leftMs + 100);
}
