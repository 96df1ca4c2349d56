import { setTimeout as sleep } from "node:timers/promises";
import type { Limits } from "@petstore/core";
import type { Played } from "./oracles.js";
import type { RunOptions } from "./scenario.js";
import { type Readiness, type Service, type ServiceOptions, startService } from "./service.js";
import type { Store } from "./store.js";
import { nowMs, startTraffic, type Traffic } from "./traffic.js";

/** Where one row is played: what it starts ends with it, and what happens is kept for the oracles. */
export interface Stage extends AsyncDisposable {
  readonly options: RunOptions;
  readonly played: Played;
  /** Two REST services that share the quotas of that Redis, warmed up. */
  startServices(
    redisUrls: readonly string[],
    environment?: Readonly<Record<string, string>>,
    others?: readonly Omit<ServiceOptions, "environment">[],
  ): Promise<readonly Service[]>;
  /** An account's only load, on all services unless some are named. */
  load(options: LoadOptions): Promise<Load>;
  /** Says that something fails or returns at this moment, which it returns. */
  mark(): number;
  /** What the row has opened beside it; closed last. */
  use<Resource extends AsyncDisposable>(resource: Resource): Resource;
}

interface LoadOptions {
  readonly limits: Limits;
  readonly on?: readonly Service[];
  readonly callers?: number;
  readonly pauseMs?: number;
  readonly requests?: number;
}

export interface Load extends Traffic {
  readonly apiKey: string;
  readonly accountId: string;
}

const roomy: Limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };

export function openStage(store: Store, options: RunOptions): Stage {
  const services: Service[] = [];
  const opened: AsyncDisposable[] = [];
  const played = { loads: [] as Traffic[], services, marks: [] as number[] };

  async function load({ limits, on = services, callers = 64, pauseMs = 150, ...rest }: LoadOptions): Promise<Load> {
    const issued = await store.issueKey(limits);
    const origins = on.map(({ origin }) => origin);
    const traffic = startTraffic({ ...rest, origins, apiKey: issued.apiKey, callers, pauseMs });
    played.loads.push(traffic);
    return { ...traffic, ...issued };
  }

  return {
    options,
    played,
    load,
    async startServices(redisUrls, environment = {}, others = [{}, {}]) {
      const all = {
        DATABASE_URL: store.databaseUrl,
        REDIS_URL: redisUrls.join(),
        QUOTA_INSTANCES: `${others.length}`,
        // The load ignores refusals on purpose.
        BAN_STRIKES: "0",
        ...environment,
      };
      services.push(...(await Promise.all(others.map((other) => startService({ ...other, environment: all })))));
      await (await load({ limits: roomy, callers: 16, pauseMs: 0, requests: 1_500 })).done;
      return services;
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
  patienceMs = 15_000,
): Promise<number> {
  const startMs = performance.now();
  while (performance.now() - startMs < patienceMs) {
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
