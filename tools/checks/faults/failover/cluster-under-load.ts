import { setTimeout as sleep } from "node:timers/promises";
import { openPatroniCluster } from "@petstore/harness/postgres";
import type { Figures } from "@petstore/harness/test-with-figures";
import { twoOfEach } from "../environment/apis.js";
import type { Environment } from "../environment/environment.js";
import { checkFailures } from "../environment/measures.js";
import { endOf, isAcknowledged, isFailure, isList, type Result } from "../environment/results.js";
import { slowRedisAllowed } from "../environment/services.js";
import { checkWalks, startWalkers } from "../lists/walkers.js";

/** A standby became the primary after a fault. */
export interface Promotion {
  readonly faultAtMs: number;
  readonly promotedAtMs: number;
}

const recoversWithinMs = 5_000;
/**
 * The defaults of the service: the wait for a connection, the limit of the statement, 100 ms for the answer of PostgreSQL,
 * and what a busy machine may add.
 */
const createWithinMs = 1_000 + 3_000 + 100 + 300;
const listWithinMs = 1_000 + 1_000 + 100 + 300;

type ClusterUnderLoad = Awaited<ReturnType<typeof startClusterUnderLoad>>;

/**
 * Two REST and two GraphQL services share a Redis, and a cluster behind HAProxy. The clients of each service create
 * without a pause. Walkers read all pets again and again: a page of an old primary would lack a pet, or have one too many.
 */
export async function startClusterUnderLoad(environment: Environment, clients = 4) {
  environment.allowFailures();
  const cluster = environment.use(await openPatroniCluster());
  await environment.useDatabase(cluster.url);
  await environment.startWithRedis(slowRedisAllowed, twoOfEach);
  const creates = await Promise.all(
    environment.services.map((service) => environment.startCreates({ clients, target: () => service })),
  );
  const load = await environment.startLoad({ clients: 16, pauseMs: 100 });
  const walkers = await startWalkers(environment, { walkers: 1, limit: 100, pauseMs: 1_000 });
  await sleep(4_000);
  return {
    cluster,
    walkers,
    /** Lists, and a few creates. */
    load,
    /** The creates of each service until now. Each is repeated until it succeeds. */
    creates: creates.map(({ results }) => results),
    /** Waits until the cluster is complete, and 5 s more, and ends the load. */
    async stop(): Promise<void> {
      await cluster.untilComplete();
      await sleep(recoversWithinMs);
      await Promise.all([load, ...creates].map((one) => one.stop()));
      await walkers.stop();
    },
  };
}

/** Each service answers 503 in time, and creates again soon after each promotion, without a restart. */
export function checkPromotions(
  figures: Figures,
  { creates, load, walkers }: ClusterUnderLoad,
  promotions: readonly Promotion[],
): void {
  checkFailures(figures, "creates", creates.flat(), createWithinMs);
  checkFailures(figures, "lists", load.results.filter(isList), listWithinMs);
  checkWalks(figures, walkers);
  const ends = creates.map((results) => results.filter(isAcknowledged).map(endOf));
  for (const { faultAtMs, promotedAtMs } of promotions) {
    const firstMs = Math.max(...ends.map((own) => firstAfter(own, promotedAtMs)));
    figures.atMost(recoversWithinMs, "first create of each service after the promotion", firstMs - promotedAtMs, "ms");
    figures.atMost(30_000, "the same after the fault", firstMs - faultAtMs, "ms");
  }
}

/** From the first failure to the last one; 0 without failures. */
export function failingMs(results: readonly Result[]): number {
  const ends = results.filter(isFailure).map(endOf);
  return ends.length === 0 ? 0 : ends.reduce((last, end) => Math.max(last, end)) - firstAfter(ends, 0);
}

function firstAfter(times: readonly number[], atMs: number): number {
  return times.reduce((first, time) => (time > atMs && time < first ? time : first), Number.POSITIVE_INFINITY);
}
