// @module-tag redis-server
// @module-tag haproxy
// @module-tag patroni
// @module-tag etcd
// @module-tag pg_rewind
import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "@petstore/harness/network";
import type { PatroniNode } from "@petstore/harness/postgres";
import { type Environment, it } from "../environment/environment.js";
import { medianP99 } from "../environment/measures.js";
import {
  count,
  endOf,
  isAcknowledged,
  isFailure,
  isList,
  isSuccess,
  isUnavailable,
  type Result,
} from "../environment/results.js";
import { checkWalks } from "../lists/walkers.js";
import { checkPromotions, failingMs, type Promotion, startClusterUnderLoad } from "./cluster-under-load.js";

const failovers = 10;
const wantedCreates = 20_000;
const switchovers = 3;
const unavailableForMs = 5_000;
/** While Patroni has not dropped a synchronous standby, creates wait for it. */
const standbyFaults = [
  // Its connection ends, so Patroni drops it in its next check, each second in these tests.
  { fault: "killed", droppedWithinMs: 5_000, begin: "kill", end: "start" },
  // Its connection stays open, so Patroni drops it when its key in etcd has expired, after 8 s in these tests.
  { fault: "vanished", droppedWithinMs: 15_000, begin: "pause", end: "resume" },
] as const;
/** A create that takes longer waits for a standby. */
const slowMs = 1_000;
/** An instance uses a cached key for 5 s at most. */
const revokedWithinMs = 5_000;

it("primary-killed: loses no create in 10 failovers, and creates again within 5 s of each promotion", async ({
  environment,
  figures,
}) => {
  const underLoad = await startClusterUnderLoad(environment);
  const { cluster, creates } = underLoad;
  const promotions: Promotion[] = [];
  for (let failover = 0; failover < failovers; failover += 1) {
    const old = await cluster.primary();
    const faultAtMs = environment.markFault();
    await old.kill();
    promotions.push({ faultAtMs, promotedAtMs: await cluster.untilPromoted(old) });
    environment.markFault();
    old.start();
    await cluster.untilComplete();
  }
  while (count(creates.flat(), isAcknowledged) < wantedCreates) await sleep(100);
  await underLoad.stop();
  checkPromotions(figures, underLoad, promotions);
});

it("switchover: answers 503 for 5 s at most when an operator moves the primary", async ({ environment, figures }) => {
  const { cluster, creates, stop } = await startClusterUnderLoad(environment);
  const durationsMs: number[] = [];
  for (let switchover = 0; switchover < switchovers; switchover += 1) {
    const startedAtMs = environment.markFault();
    await cluster.switchover();
    environment.markFault();
    await cluster.untilComplete();
    durationsMs.push(failingMs(creates.flat().filter((one) => endOf(one) > startedAtMs)));
  }
  await stop();
  figures.atMost(unavailableForMs, "creates answered 503 for", Math.max(...durationsMs), "ms");
  const isOther = (one: Result) => !isSuccess(one) && !isUnavailable(one);
  figures.count(0, "creates answered neither 2xx nor 503 with Retry-After", creates.flat(), isOther);
});

it("primary-vanished: recovers from a primary that is silent, and loses nothing when it resumes", async ({
  environment,
  figures,
}) => {
  const underLoad = await startClusterUnderLoad(environment);
  const { cluster } = underLoad;
  const old = await cluster.primary();
  const faultAtMs = environment.markFault();
  await old.pause();
  const promotedAtMs = await cluster.untilPromoted(old);
  environment.markFault();
  await sleep(10_000);
  environment.markFault();
  await old.resume();
  await underLoad.stop();
  checkPromotions(figures, underLoad, [{ faultAtMs, promotedAtMs }]);
});

for (const { fault, droppedWithinMs, begin, end } of standbyFaults) {
  const promise = `delays or refuses creates for ${droppedWithinMs} ms at most, and delays no list`;
  it(`standby-${fault}: ${promise}`, async ({ environment, figures }) => {
    // Few creates, so that the load itself does not slow the lists.
    const { cluster, creates, load, walkers, stop } = await startClusterUnderLoad(environment, 1);
    const standby = await cluster.synchronousStandby();
    const faultAtMs = environment.markFault();
    await standby[begin]();
    await sleep(2 * droppedWithinMs);
    const startedAtMs = environment.markFault();
    await standby[end]();
    await stop();
    const results = creates.flat();
    const lists = load.results.filter(isList);
    const beforeMs = medianP99(lists.filter(({ sentAtMs }) => sentAtMs < faultAtMs));
    const without = lists.filter(({ sentAtMs }) => sentAtMs > faultAtMs && sentAtMs < startedAtMs);
    const before = results.filter(({ sentAtMs }) => sentAtMs < startedAtMs);
    const slowOrRefused = before.filter((one) => !isSuccess(one) || one.durationMs > slowMs).map(endOf);
    // Only a vanished standby outlasts a create, which is answered 503 after 3 s. Its repetition then waits for the first
    // one, and gets 409.
    const isRepetition = ({ code, sentAtMs }: Result) =>
      fault === "vanished" && code === "IDEMPOTENCY_IN_PROGRESS" && sentAtMs < faultAtMs + droppedWithinMs;
    const isOther = (one: Result) => !isSuccess(one) && !isUnavailable(one) && !isRepetition(one);
    figures.count(0, "creates answered neither 2xx nor 503, nor 409 while they wait", results, isOther);
    const lastMs = slowOrRefused.reduce((last, end) => Math.max(last, end), faultAtMs) - faultAtMs;
    figures.atMost(droppedWithinMs, "creates delayed or refused until", lastMs, "ms");
    figures.count(0, "lists that failed", lists, isFailure);
    checkWalks(figures, walkers);
    figures.atMost(beforeMs + 25, "lists without the standby, p99 of the median second", medianP99(without), "ms");
  });
}

it("primary-isolated: becomes a standby before another is promoted, so a revoked key is refused within 5 s", async ({
  environment,
  figures,
}) => {
  const underLoad = await startClusterUnderLoad(environment);
  const { cluster } = underLoad;
  const { key, keyId } = await environment.database.issueKey();
  const load = await environment.startLoad({ apiKey: key, clients: 8, pauseMs: 50 });
  const old = await cluster.primary();
  const faultAtMs = environment.markFault();
  await old.isolate();
  const lastServed = lastTimeAsPrimary(old);
  const promotedAtMs = await cluster.untilPromoted(old);
  environment.markFault();
  const revokedAtMs = await untilRevoked(environment, keyId);
  await sleep(2 * revokedWithinMs);
  const lastServedAtMs = await lastServed;
  await old.reconnect();
  await load.stop();
  await underLoad.stop();
  const served = load.results.filter(isSuccess).map(endOf);
  const lastUseMs = served.reduce((last, end) => Math.max(last, end), revokedAtMs) - revokedAtMs;
  figures.atMost(10_000, "the isolated node is still a primary for", lastServedAtMs - faultAtMs, "ms");
  figures.atMost(0, "two nodes are a primary for", Math.max(0, lastServedAtMs - promotedAtMs), "ms");
  figures.atMost(revokedWithinMs, "requests with a key served after its revocation for", lastUseMs, "ms");
  figures.atLeast(1, "requests with the key served before", served.length);
  checkPromotions(figures, underLoad, [{ faultAtMs, promotedAtMs }]);
});

/** Resolves when the node is no longer a primary, with the last time at which it was one. */
async function lastTimeAsPrimary(node: PatroniNode): Promise<number> {
  let lastMs = nowMs();
  while (await node.isPrimary()) {
    lastMs = nowMs();
    await sleep(20);
  }
  return lastMs;
}

/** Tries to revoke the key until it succeeds. Resolves with the time at which that attempt began. */
async function untilRevoked({ database }: Environment, keyId: bigint): Promise<number> {
  for (;;) {
    const startedAtMs = nowMs();
    try {
      await database.execute(`update api_keys set revoked_at = now() where id = ${keyId}`);
      return startedAtMs;
    } catch {
      // No standby is promoted yet.
    }
  }
}
