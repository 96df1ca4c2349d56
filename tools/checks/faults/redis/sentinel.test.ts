// @module-tag redis-server
import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "@petstore/harness/network";
import { openRedisSentinels, type RedisSentinels, type RedisServer } from "@petstore/harness/redis";
import type { Figures } from "@petstore/harness/test-with-figures";
import type { Environment } from "../environment/environment.js";
import { it } from "../environment/it.js";
import { checkAdmitted, checkLatency, checkTransitions, checkWindows } from "../environment/measures.js";
import { count, isSuccess } from "../environment/results.js";
import { type Instance, twoRest } from "../environment/services.js";
import { millisecondsUntil, readinessOf, withinOneMinute } from "../environment/waits.js";

/** The usual load uses this up within seconds, so the demand is above the limit in every window with a fault. */
const limits = { perMinute: 3_000, perDay: 10_000_000 };
const degradedWithinMs = 500;
/** After the promotion. */
const recoversWithinMs = 2_000;

async function startBehindSentinel(environment: Environment, instances: readonly Instance[]): Promise<RedisSentinels> {
  const group = environment.use(await openRedisSentinels());
  await environment.startServices({ REDIS_URL: group.url }, instances);
  await environment.warmUp();
  return group;
}

/** Waits for the promotion, and until every instance shares the quota again. Resolves with the new primary. */
async function recover(
  { services, markFault }: Environment,
  figures: Figures,
  group: RedisSentinels,
  old: RedisServer,
): Promise<RedisServer> {
  const promoted = await group.promotion({ not: old });
  const sharedMs = await millisecondsUntil(services, "ready");
  markFault();
  figures.atMost(recoversWithinMs, "shared again after the promotion", sharedMs, "ms");
  return promoted;
}

it("sentinel-killed: follows the promotion, and stays there when the old primary returns empty", async ({
  environment,
  figures,
}) => {
  const group = await startBehindSentinel(environment, twoRest);
  const { services, faultTimes, markFault } = environment;
  await withinOneMinute(20_000);
  const load = await environment.startLoad({ limits });
  await sleep(2_500);
  const old = await group.primary();
  const beganAtMs = markFault();
  await old.kill();
  figures.atMost(
    degradedWithinMs,
    "both instances degraded after",
    await millisecondsUntil(services, "degraded"),
    "ms",
  );
  await recover(environment, figures, group, old);
  const endedAtMs = nowMs();
  await old.restart();
  await checkAdmitted(environment, figures, { accounts: 3, limit: 1_000, clients: 64, requests: 2_000 });
  await load.stop();
  checkLatency(figures, load, beganAtMs, endedAtMs);
  checkWindows(figures, load.results, faultTimes);
  await checkTransitions(figures, services, { outages: 1, recoveries: 1 });
});

it("sentinel-stopped: leaves a primary that stops and continues later, also from an idle instance", async ({
  environment,
  figures,
}) => {
  const group = await startBehindSentinel(environment, [{}, {}, {}]);
  const { services, faultTimes, markFault } = environment;
  const [busy, idle] = [services.slice(0, 2), services.slice(2)];
  const apiKey = await environment.issueKey({ perMinute: 10_000_000, perDay: 100 });
  const send = (requests: number, targets = busy) => environment.sendBurst({ requests, clients: 4, apiKey }, targets);
  await withinOneMinute(20_000);
  const load = await environment.startLoad({ limits, targets: busy });
  await sleep(2_500);
  await send(60);
  const old = await group.primary();
  const beganAtMs = markFault();
  old.pause();
  figures.atMost(degradedWithinMs, "busy instances degraded after", await millisecondsUntil(busy, "degraded"), "ms");
  await recover(environment, figures, group, old);
  const endedAtMs = nowMs();
  // From here on the idle instance would be told 60 by the old primary, and 90 by the new one.
  await send(30);
  old.resume();
  const [role] = (await old.command("ROLE")) as readonly unknown[];
  const admitted = count(await send(100, idle), isSuccess);
  figures.count(1, "old primaries that accept writes again", [role], (one) => one === "master");
  figures.exactly(10, "admitted by the idle instance, of the 10 units that are left", admitted);
  await load.stop();
  checkLatency(figures, load, beganAtMs, endedAtMs);
  checkWindows(figures, load.results, faultTimes);
  await checkTransitions(figures, services, { outages: 1, recoveries: 1 });
});

it("sentinel-majority: decides in the instances until the sentinels have a majority again", async ({
  environment,
  figures,
}) => {
  const group = await startBehindSentinel(environment, twoRest);
  const { services, faultTimes, markFault } = environment;
  const [first, second] = group.sentinels;
  await withinOneMinute(30_000);
  const load = await environment.startLoad({ limits });
  await sleep(2_500);
  const old = await group.primary();
  await Promise.all([first?.kill(), second?.kill()]);
  await sleep(1_000);
  figures.count(2, "instances that share the quota without a majority", await states(environment), isReady);
  const beganAtMs = markFault();
  await old.kill();
  figures.atMost(
    degradedWithinMs,
    "both instances degraded after",
    await millisecondsUntil(services, "degraded"),
    "ms",
  );
  await sleep(8_000);
  figures.count(0, "instances that share a quota without a primary", await states(environment), isReady);
  await first?.restart();
  await recover(environment, figures, group, old);
  const endedAtMs = nowMs();
  await checkAdmitted(environment, figures, { accounts: 3, limit: 1_000, clients: 64, requests: 2_000 });
  await load.stop();
  checkLatency(figures, load, beganAtMs, endedAtMs);
  checkWindows(figures, load.results, faultTimes);
  await checkTransitions(figures, services, { outages: 1, recoveries: 1 });
});

it("sentinel-uneven: keeps the stated bound if one instance knows the units of the other no more", async ({
  environment,
  figures,
}) => {
  const group = await startBehindSentinel(environment, twoRest);
  const { services, markFault } = environment;
  const [first, second] = services.map((service) => [service]);
  const bound = 2 - 1 / services.length;
  environment.allowShare(bound);
  await withinOneMinute(25_000);
  const small = { perMinute: 1_000, perDay: 10_000_000 };
  // The second instance last hears of the account when one unit is used.
  const early = await environment.startLoad({ limits: small, targets: second ?? [], clients: 1, requests: 1 });
  const { apiKey } = early;
  const used = await environment.startLoad({ apiKey, targets: first ?? [], clients: 16, pauseMs: 0, requests: 900 });
  const old = await group.primary();
  markFault();
  await old.kill();
  const late = await environment.startLoad({ apiKey, targets: second ?? [] });
  await recover(environment, figures, group, old);
  await sleep(1_000);
  await late.stop();
  const granted = count([...early.results, ...used.results, ...late.results], isSuccess);
  figures.atLeast(small.perMinute, "granted in the minute of the failover", granted);
  figures.atMost(small.perMinute * bound, "granted in the minute of the failover", granted);
  await checkAdmitted(environment, figures, { accounts: 3, limit: 1_000, clients: 64, requests: 2_000 });
});

function states({ services }: Environment): Promise<readonly string[]> {
  return Promise.all(services.map(readinessOf));
}

function isReady(state: string): boolean {
  return state === "ready";
}
