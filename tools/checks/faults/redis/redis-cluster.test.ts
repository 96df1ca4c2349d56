// @module-tag redis-server
import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "@petstore/harness/network";
import { openRedisCluster, type RedisServer } from "@petstore/harness/redis";
import { startWithinMinute } from "../../conformance/running-store.js";
import { type Environment, it } from "../environment/environment.js";
import type { Load } from "../environment/load.js";
import { checkLatency, medianP99, millisecondsUntil } from "../environment/measures.js";
import { readMetrics } from "../environment/metrics.js";
import { count, isSuccess, type Result } from "../environment/results.js";
import { type Service, slowRedisAllowed } from "../environment/services.js";

type RedisCluster = Awaited<ReturnType<typeof openRedisCluster>>;

interface AccountUnderLoad {
  /** Of its units in Redis. */
  readonly key: string;
  readonly load: Load;
}

const accounts = 12;
const clients = 4;
/** Below the demand of an account during the test. */
const limits = { perMinute: 300, perDay: 10_000_000 };
const twoRest = [{}, {}];
const degradedWithinMs = 500;
const recoversWithinMs = 2_000;
/** On a busy machine. */
const timesControl = 3;
const fastMs = 10;
const movedSlots = 5;

it("cluster-master-killed: decides alone only about its accounts; the others stay exact and as fast", async ({
  environment,
  figures,
}) => {
  const cluster = environment.use(await openRedisCluster({ replicas: 1 }));
  const underLoad = await startAccounts(environment, cluster);
  await sleep(2_500);
  const [{ key: lostKey } = { key: "" }] = underLoad;
  const old = await cluster.masterOf(lostKey);
  const masters = await Promise.all(underLoad.map(({ key }) => cluster.masterOf(key)));
  const lost = underLoad.filter((_, index) => masters[index] === old);
  const others = underLoad.filter((_, index) => masters[index] !== old);

  const beganAtMs = environment.markFault();
  await old.kill();
  const { services } = environment;
  figures.atMost(degradedWithinMs, "degraded after", await millisecondsUntil(services, "degraded"), "ms");
  const fallbacks = (await metricsOf(services, "petstore_quota_shard_fallback")).map(sum);
  figures.exactly(1, "masters that an instance decides without, at most", Math.max(...fallbacks));
  figures.exactly(1, "masters that an instance decides without, at least", Math.min(...fallbacks));
  await untilPromoted(cluster, lostKey, old);
  const endedAtMs = nowMs();
  environment.markFault();
  figures.atMost(recoversWithinMs, "shared again after", await millisecondsUntil(services, "ready"), "ms");
  environment.markFault();
  await old.restart();
  await sleep(2_000);
  await Promise.all(underLoad.map(({ load }) => load.stop()));
  const outages = await metricsOf(services, "petstore_quota_outages_total");
  const mastersWithOutages = outages.map((ofInstance) => count(ofInstance, (number) => number > 0));
  figures.exactly(1, "masters with an outage, in each instance at most", Math.max(...mastersWithOutages));

  const ofOthers = resultsOf(others);
  const isBefore = ({ sentAtMs }: Result) => sentAtMs < beganAtMs;
  const isDuring = ({ sentAtMs }: Result) => sentAtMs >= beganAtMs && sentAtMs < endedAtMs;
  const control = medianP99(ofOthers.filter(isBefore));
  const what = `p99 of the other accounts in the outage (before ${Math.round(control)} ms)`;
  figures.atMost(timesControl * Math.max(control, fastMs), what, medianP99(ofOthers.filter(isDuring)), "ms");
  checkLatency(figures, { results: resultsOf(lost) }, beganAtMs, endedAtMs);
  figures.atLeast(1, "accounts of the lost master", lost.length);
  figures.atLeast(1, "accounts of the other masters", others.length);
  figures.exactly(0, "other accounts: units counted more or less than admitted", await differences(cluster, others));
  // Nobody knows whether the old master had counted the requests in flight, and whether its replica had received them.
  const inFlight = lost.length * clients;
  figures.atMost(inFlight, "lost accounts: units counted more or less than admitted", await differences(cluster, lost));
});

it("cluster-slot-moved: follows slots that move to other masters, and counts each unit once", async ({
  environment,
  figures,
}) => {
  const cluster = environment.use(await openRedisCluster());
  const underLoad = await startAccounts(environment, cluster);
  for (const { key } of underLoad.slice(0, movedSlots)) {
    const source = await cluster.masterOf(key);
    const target = cluster.nodes.find((node) => node !== source);
    if (target !== undefined) await cluster.moveSlot(key, target);
    await sleep(500);
  }
  const { services } = environment;
  figures.atMost(recoversWithinMs, "all masters are used after", await millisecondsUntil(services, "ready"), "ms");
  await sleep(1_000);
  await Promise.all(underLoad.map(({ load }) => load.stop()));
  const outages = await metricsOf(services, "petstore_quota_outages_total");
  figures.exactly(0, "outages: no account was decided about without Redis", sum(outages.map(sum)));
  figures.exactly(0, "units counted more or less than admitted", await differences(cluster, underLoad));
});

/** Starts two instances that share the cluster, and accounts that use both. A killed master refuses calls without a delay. */
async function startAccounts(environment: Environment, { nodes }: RedisCluster): Promise<AccountUnderLoad[]> {
  const urls = nodes.map(({ url }) => url);
  await environment.startServices({ REDIS_URL: urls.join(), METRICS_PORT: "0", ...slowRedisAllowed }, twoRest);
  await startWithinMinute(25_000);
  const underLoad: AccountUnderLoad[] = [];
  while (underLoad.length < accounts) {
    const { key: apiKey, accountId } = await environment.database.issueKey({ customLimits: limits });
    const load = await environment.startLoad({ apiKey, clients });
    underLoad.push({ key: `petstore:quota:2:{${accountId}}`, load });
  }
  return underLoad;
}

async function untilPromoted(cluster: RedisCluster, key: string, old: RedisServer): Promise<void> {
  // No running node has the slot until the promotion.
  while ((await cluster.masterOf(key).catch(() => old)) === old) await sleep(20);
}

/** The values of all masters, in each instance. */
async function metricsOf(services: readonly Service[], name: string): Promise<readonly number[][]> {
  const metrics = await Promise.all(services.map(readMetrics));
  return metrics.map((ofInstance) =>
    [...ofInstance].filter(([series]) => series.startsWith(`${name}{shard=`)).map(([, value]) => value),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function resultsOf(underLoad: readonly AccountUnderLoad[]): Result[] {
  return underLoad.flatMap(({ load }) => load.results);
}

/** Compares the units that Redis counts in the day with the admitted requests, and adds the differences of all accounts. */
async function differences(cluster: RedisCluster, underLoad: readonly AccountUnderLoad[]): Promise<number> {
  const ofEach = underLoad.map(async ({ key, load }) => {
    const master = await cluster.masterOf(key);
    const [, , , dayUsed] = String(await master.command("GET", key)).split(":");
    return Math.abs(Number(dayUsed) - count(load.results, isSuccess));
  });
  return sum(await Promise.all(ofEach));
}
