// @module-tag redis-server
// @module-tag haproxy
import { setTimeout as sleep } from "node:timers/promises";
import { openHttpClient, startShippedBalancer } from "@petstore/harness/network";
import { haproxyFile } from "../../programs.js";
import { rest } from "../environment/apis.js";
import { type Environment, it } from "../environment/environment.js";
import { openConnection } from "../environment/load.js";
import { readMetrics } from "../environment/metrics.js";
import { count, isSuccess, type Result } from "../environment/results.js";
import { faultless, type Service } from "../environment/services.js";

const eightRest = Array.from({ length: 8 }, () => ({}));
const settings = { ...faultless, DATABASE_POOL_SIZE: "4", METRICS_PORT: "0" };
const keyCount = 2_000;
const pageCount = 100;
const clients = 32;
const measuredMs = 20_000;

it("by-key: the shipped HAProxy saves look-ups of keys and reads of pages, and moves only the keys of a killed instance", async ({
  environment,
  figures,
}) => {
  await environment.startWithRedis(settings, eightRest);
  await environment.database.execute(`
    insert into pets (name, category_id, status)
    select 'pet ' || n, 1, 'available' from generate_series(1, ${10 * pageCount}) n`);
  const keys: string[] = [];
  while (keys.length < keyCount) keys.push(await environment.issueKey());
  const walked = await walk(environment.services, keys[0] ?? "");
  // Each key reads a page of its own.
  const requests = keys.map((key, index) => ({
    key,
    path: (walked[index % pageCount] ?? "").replace("limit=10", `limit=${1 + Math.floor(index / pageCount)}`),
  }));

  const measured = new Map<string, Use>();
  for (const [name, change] of [
    ["least connections", (shipped: string) => byLeastConnections(withSlowChecks(shipped))],
    ["by key", withSlowChecks],
  ] as const) {
    await using balancer = await startChangedBalancer(environment.services, change);
    const use = await measure(environment, balancer, requests);
    measured.set(name, use);
    figures.atLeast(0, `${name}: requests per second`, use.requestsPerSecond);
    figures.atLeast(0, `${name}: look-ups of keys per second`, use.lookUps * use.requestsPerSecond);
    figures.atLeast(0, `${name}: lists with a kept page`, 100 * use.keptPages, "%");
    figures.atLeast(0, `${name}: reservations in a call to Redis`, use.reservationsPerCall);
  }
  const [before, after] = [...measured.values()];
  const ratio = (of: (use: Use) => number) => (before && after ? of(after) / of(before) : Number.NaN);
  figures.atMost(
    0.8,
    "look-ups of keys for a request, times those of least connections",
    ratio(({ lookUps }) => lookUps),
  );
  figures.atLeast(
    1.2,
    "lists with a kept page, times those of least connections",
    ratio(({ keptPages }) => keptPages),
  );

  await using balancer = await startChangedBalancer(environment.services, nameInstance);
  using client = openHttpClient(balancer.origin);
  const instanceOf = async (key: string) =>
    `${(await client.send("GET", "/v1/pets?limit=1", { key })).headers["x-instance"]}`;
  const instancesOf = async () => {
    const found: string[] = [];
    for (const key of keys) found.push(await instanceOf(key));
    return found;
  };
  const served = await instancesOf();
  const [killed] = environment.services;
  const name = `rest${killed?.port}`;
  await environment.kill(killed);
  const itsKey = keys[served.indexOf(name)] ?? "";
  const others = environment.services.filter((service) => service !== killed).map(({ port }) => `rest${port}`);
  while (!others.includes(await instanceOf(itsKey))) await sleep(100);
  const moved = await instancesOf();
  figures.count(0, "keys without an instance that is alive", moved, (instance) => !others.includes(instance));
  const sizes = environment.services.map(({ port }) => count(served, (one) => one === `rest${port}`));
  figures.atMost(0.3 * keyCount, `keys of ${keyCount} on one of 8 instances, the most`, Math.max(...sizes));
  const movedKeys = moved.filter((instance, place) => instance !== served[place]).length;
  figures.exactly(sizes[0] ?? 0, "keys that moved when an instance with this number was killed", movedKeys);
});

it("by-key-outage: a steady client of one instance is not refused while Redis is killed", async ({
  environment,
  figures,
}) => {
  const redis = await environment.startWithRedis(settings, eightRest);
  await using balancer = await startChangedBalancer(environment.services, (shipped) => shipped);
  const limit = 640;
  const limits = { perMinute: limit, perDay: 1_000_000 };
  const options = { targets: [{ ...balancer, api: rest }], clients: 1, call: () => rest.list };
  const before = await environment.startLoad({ ...options, pauseMs: 100, limits });
  await untilNextMinute();
  await untilNextMinute();
  await before.stop();
  const beganAtMs = environment.markFault();
  await redis.kill();
  // Slower than before on any machine, and faster than an eighth of the limit.
  const during = await environment.startLoad({ ...options, pauseMs: 300, apiKey: before.apiKey });
  await untilNextMinute();
  await untilNextMinute();
  await during.stop();
  await redis.restart();
  environment.markFault();
  const minutes = (Date.now() - beganAtMs) / 60_000;
  figures.atLeast(limit / 8, "requests per minute of the outage", during.results.length / minutes);
  figures.count(0, "refused requests", during.results, (one) => !isSuccess(one));
});

interface Use {
  readonly requestsPerSecond: number;
  /** For each request. */
  readonly lookUps: number;
  /** The part of the lists that were not read from PostgreSQL. */
  readonly keptPages: number;
  readonly reservationsPerCall: number;
}

interface KeyRequest {
  readonly key: string;
  readonly path: string;
}

/** The links to the pages of a walk, of 10 pets each. */
async function walk(services: readonly Service[], key: string): Promise<string[]> {
  using client = openHttpClient(services[0]?.origin ?? "");
  const paths = ["/v1/pets?limit=10"];
  while (paths.length < pageCount) {
    const { headers } = await client.send("GET", paths.at(-1) ?? "", { key });
    const next = /<([^>]*)>; rel="next"/.exec(headers.link ?? "")?.[1];
    if (next === undefined) throw new Error(`the walk ended after ${paths.length} pages`);
    const { pathname, search } = new URL(next, client.origin);
    paths.push(`${pathname}${search}`);
  }
  return paths;
}

/** Clients without a pause. The key in place k is used in proportion to 1 / k. */
async function measure(
  environment: Environment,
  { origin }: { readonly origin: string },
  requests: readonly KeyRequest[],
): Promise<Use> {
  const chooseKey = chooser(requests);
  const results: Result[] = [];
  let isStopped = false;
  const runClient = async () => {
    using connection = openConnection();
    while (!isStopped) {
      const { key, path } = chooseKey(Math.random());
      const result = await connection.send({ origin, api: rest }, { method: "GET", path }, key);
      results.push({ ...result, text: "" });
    }
  };
  const running = Array.from({ length: clients }, runClient);
  await sleep(measuredMs / 4);
  const [before, sentBefore] = [await countsOf(environment.services), results.length];
  await sleep(measuredMs);
  const [after, sent] = [await countsOf(environment.services), results.length - sentBefore];
  isStopped = true;
  await Promise.all(running);
  environment.keep(results);
  const [lookUps = 0, hits = 0, misses = 0, calls = 0] = after.map((value, index) => value - (before[index] ?? 0));
  return {
    requestsPerSecond: sent / (measuredMs / 1_000),
    lookUps: lookUps / sent,
    keptPages: hits / (hits + misses),
    reservationsPerCall: sent / calls,
  };
}

/** Chooses by a number from 0 to less than 1. */
function chooser(requests: readonly KeyRequest[]): (random: number) => KeyRequest {
  let total = 0;
  const upTo = requests.map((_, index) => {
    total += 1 / (index + 1);
    return total;
  });
  return (random) => {
    const place = upTo.findIndex((end) => random * total < end);
    return requests[place] as KeyRequest;
  };
}

/** The sums of all instances. */
async function countsOf(services: readonly Service[]): Promise<number[]> {
  const metrics = await Promise.all(services.map(readMetrics));
  return [
    ["petstore_key_lookups_total", 'result="miss"'],
    ["petstore_list_pages_total", 'result="hit"'],
    ["petstore_list_pages_total", 'result="miss"'],
    ["db_client_operation_duration_seconds_count", 'db_query_summary="reserve"'],
  ].map(([name = "", label = ""]) => {
    const all = metrics.flatMap((ofService) => [...ofService]);
    const matching = all.filter(([series]) => series.startsWith(`${name}{`) && series.includes(label));
    return matching.reduce((sum, [, value]) => sum + value, 0);
  });
}

/** HAProxy with a change of the shipped configuration. Resolves when it has found an instance ready. */
async function startChangedBalancer(services: readonly Service[], change: (shipped: string) => string) {
  const balancer = await startShippedBalancer(haproxyFile, { rest: services.map(({ port }) => port) }, {}, change);
  await balancer.until(async () => (await fetch(`${balancer.origin}/v1/pets`)).status === 401);
  return balancer;
}

/** Otherwise HAProxy takes out an instance that answers late because the machine is busy. */
function withSlowChecks(shipped: string): string {
  return shipped.replace("inter 500ms", "inter 30s");
}

function byLeastConnections(shipped: string): string {
  return shipped.replace(/balance hash .*\n.*hash-type .*\n.*hash-balance-factor .*/, "balance leastconn");
}

/**
 * Each response says which instance gave it. Without the bound for busy instances: on a busy machine, a request may still count
 * as in flight when the next one comes, which then goes to another instance.
 */
function nameInstance(shipped: string): string {
  const named = shipped.replaceAll(/^backend .*/gm, "$&\n  http-response set-header X-Instance %s");
  return named.replace(/^ *hash-balance-factor .*\n/m, "");
}

async function untilNextMinute(): Promise<void> {
  await sleep(60_000 - (Date.now() % 60_000) + 200);
}
