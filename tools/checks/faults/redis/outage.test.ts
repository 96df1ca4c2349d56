// @module-tag redis-server
import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "@petstore/harness/network";
import { openRedisServer, type RedisServer } from "@petstore/harness/redis";
import { it } from "../environment/it.js";
import { checkLatency, checkTransitions, checkWindows, ownP99 } from "../environment/measures.js";
import { slowRedisAllowed, twoRest } from "../environment/services.js";
import { millisecondsUntil, withinOneMinute } from "../environment/waits.js";

/** The usual load uses this up within seconds, so the demand is above the limit in every window with a fault. */
const limits = { perMinute: 3_000, perDay: 10_000_000 };
const degradedWithinMs = 500;
const recoversWithinMs = 2_000;

interface Outage {
  readonly name: string;
  /** Until Redis recovers. By default it does not, and the test ends after the next whole minute. */
  readonly seconds?: number;
  begin(redis: RedisServer): unknown;
  end?(redis: RedisServer): unknown;
}

const outages: readonly Outage[] = [
  {
    name: "back-empty: counts the units from before and during the outage when Redis returns empty",
    seconds: 3,
    begin: (redis) => redis.kill(),
    end: (redis) => redis.restart(),
  },
  {
    name: "stopped: admits nobody twice after SIGSTOP, 30 s and SIGCONT",
    seconds: 30,
    begin: (redis) => redis.pause(),
    end: (redis) => redis.resume(),
  },
  {
    name: "readonly: counts in the instances while Redis refuses writes (REPLICAOF)",
    seconds: 3,
    begin: (redis) => redis.command("REPLICAOF", "127.0.0.1", 1),
    end: (redis) => redis.command("REPLICAOF", "NO", "ONE"),
  },
  {
    name: "oom: counts in the instances while Redis has no memory for writes",
    seconds: 3,
    begin: (redis) => redis.command("CONFIG", "SET", "maxmemory", 1),
    end: (redis) => redis.command("CONFIG", "SET", "maxmemory", 0),
  },
  {
    name: "killed: grants nothing above the limit in the whole minute after SIGKILL",
    begin: (redis) => redis.kill(),
  },
];

for (const { name, seconds, begin, end } of outages) {
  it(name, async ({ environment, figures }) => {
    const redis = await environment.startWithRedis({}, twoRest);
    const { services, faultTimes } = environment;
    await withinOneMinute(15_000);
    const load = await environment.startLoad({ limits });
    await sleep(2_500);
    const beganAtMs = environment.markFault();
    await begin(redis);
    const degradedMs = await millisecondsUntil(services, "degraded");
    figures.atMost(degradedWithinMs, "both instances degraded after", degradedMs, "ms");
    const wholeMinuteOverAtMs = Math.ceil(beganAtMs / 60_000) * 60_000 + 61_000;
    await sleep((seconds === undefined ? wholeMinuteOverAtMs : beganAtMs + seconds * 1_000) - nowMs());
    const endedAtMs = nowMs();
    if (end !== undefined) {
      environment.markFault();
      await end(redis);
      figures.atMost(recoversWithinMs, "shared again after", await millisecondsUntil(services, "ready"), "ms");
      await sleep(2_000);
    }
    await load.stop();
    checkLatency(figures, load, beganAtMs, endedAtMs);
    checkWindows(figures, load.results, faultTimes);
    await checkTransitions(figures, services, { outages: 1, recoveries: end === undefined ? 0 : 1 });
  });
}

it("absent: starts without Redis, and shares quotas when Redis appears", async ({ environment, figures }) => {
  const redis = environment.use(await openRedisServer());
  await redis.kill();
  const services = await environment.startServices({ REDIS_URL: redis.url }, twoRest);
  await environment.warmUp();
  const load = await environment.startLoad({ limits });
  await sleep(3_000);
  const degradedMs = await millisecondsUntil(services, "degraded");
  const appearedAtMs = environment.markFault();
  await redis.restart();
  const sharedMs = await millisecondsUntil(services, "ready");
  await sleep(2_000);
  await load.stop();
  const slowestStartMs = Math.max(...services.map(({ startedWithinMs }) => startedWithinMs));
  const p99 = ownP99(load, ({ sentAtMs }) => sentAtMs < appearedAtMs);
  figures.atMost(2_000, "the slower start", slowestStartMs, "ms");
  figures.atMost(50, "answers without Redis, p99 of the median second", p99, "ms");
  figures.atMost(degradedWithinMs, "both instances degraded after", degradedMs, "ms");
  figures.atMost(recoversWithinMs, "shared after", sharedMs, "ms");
  checkWindows(figures, load.results, environment.faultTimes);
  await checkTransitions(figures, services, { outages: 1, recoveries: 1 });
});

it("script-flush: keeps working through 30 times SCRIPT FLUSH", async ({ environment, figures }) => {
  const redis = await environment.startWithRedis(slowRedisAllowed, twoRest);
  const load = await environment.startLoad({ limits });
  for (let flush = 0; flush < 30; flush += 1) {
    await redis.command("SCRIPT", "FLUSH");
    await sleep(100);
  }
  await load.stop();
  await checkTransitions(figures, environment.services, { outages: 0, recoveries: 0 });
});
