// @module-tag redis-server
import { setTimeout as sleep } from "node:timers/promises";
import { nowMs, openFaultProxy } from "@petstore/harness/network";
import { openRedisServer } from "@petstore/harness/redis";
import { it } from "../environment/environment.js";
import { count, isSuccess, type Result } from "../environment/results.js";
import { twoRest } from "../environment/services.js";
import { millisecondsUntil } from "../environment/waits.js";
import { checkOutage } from "./check-outage.js";

it("back-empty: counts the units from before and during the outage when Redis returns empty", async ({
  environment,
  figures,
}) => {
  const redis = await environment.startWithRedis({}, twoRest);
  await checkOutage(environment, figures, {
    begin: () => redis.kill(),
    async end() {
      await sleep(3_000);
      await redis.restart();
    },
  });
});

it("stopped: admits nobody twice after SIGSTOP, 30 s and SIGCONT", async ({ environment, figures }) => {
  const redis = await environment.startWithRedis({}, twoRest);
  await checkOutage(environment, figures, {
    begin: () => redis.pause(),
    async end() {
      await sleep(30_000);
      redis.resume();
    },
  });
});

/** Limited by the day, whose window does not end during a test: Remaining shows every counted unit. */
const dayLimits = { perMinute: 10_000_000, perDay: 1_000_000 };

/**
 * The share of calls through two instances that Redis may lack. A reset connection loses the calls on it, and each
 * instance can mistake them for calls of the other one (decision 0005).
 */
const missingPercent = 1;

it("reply-lost: counts a call once when Redis executes it and the answer is lost", async ({ environment, figures }) => {
  const redis = environment.use(await openRedisServer());
  const proxy = environment.use(await openFaultProxy({ url: redis.url }));
  const services = await environment.startServices({ REDIS_URL: proxy.url }, twoRest);
  await environment.warmUp();
  const single = await environment.startLoad({ limits: dayLimits, clients: 32, targets: services.slice(0, 1) });
  const shared = await environment.startLoad({ limits: dayLimits, clients: 32 });
  for (let fault = 0; fault < 3; fault += 1) {
    await sleep(1_000);
    environment.markFault();
    await proxy.dropReplies();
    await sleep(1_000);
    await proxy.restore();
    environment.markFault();
    await millisecondsUntil(services, "ready");
  }
  await sleep(500);
  const settledAtMs = nowMs();
  await sleep(500);
  await Promise.all([single.stop(), shared.stop()]);
  const singleCalls = count(single.results, isSuccess);
  figures.exactly(singleCalls, "units counted of calls through one instance", counted(single.results, settledAtMs));
  const calls = count(shared.results, isSuccess);
  const missing = calls - counted(shared.results, settledAtMs);
  figures.atLeast(0, `units missing of ${calls} calls through both; below 0, units were counted twice`, missing);
  figures.atMost(missingPercent, "units missing, as a share", (100 * missing) / calls, "%");
});

/** The highest count in an answer since this time. */
function counted(results: readonly Result[], sinceMs: number): number {
  const since = results.filter(({ sentAtMs }) => sentAtMs > sinceMs);
  return Math.max(...since.map(({ rateLimit: { limit, remaining } }) => limit - remaining));
}
