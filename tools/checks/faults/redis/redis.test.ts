// @module-tag redis-server
import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "@petstore/harness/network";
import { openRedisSentinels } from "@petstore/harness/redis";
import type { Figures } from "@petstore/harness/test-with-figures";
import { startWithinMinute } from "../../conformance/running-store.js";
import { twoOfEach } from "../environment/apis.js";
import { type Environment, it } from "../environment/environment.js";
import { checkAdmitted, checkLatency, millisecondsUntil } from "../environment/measures.js";
import { faultless } from "../environment/services.js";

/** The load uses this up within seconds, so the demand is above the limit in every window with a fault. */
const limits = { perMinute: 3_000, perDay: 10_000_000 };
const twoRest = [{}, {}];
const degradedWithinMs = 500;
const recoversWithinMs = 2_000;

it("shared-exactly: 4 processes admit exactly 1,000 of 10,000 requests, and 1 of 1,000", async ({
  environment,
  figures,
}) => {
  await environment.startWithRedis(faultless, twoOfEach);
  await checkAdmitted(environment, figures, { accounts: 50, limit: 1_000, clients: 200, requests: 10_000 });
  await checkAdmitted(environment, figures, { accounts: 5, limit: 1, clients: 1_000, requests: 1_000 });
});

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

it("sentinel-killed: follows the promotion, and stays there when the old primary returns empty", async ({
  environment,
  figures,
}) => {
  const group = environment.use(await openRedisSentinels());
  await environment.startServices({ REDIS_URL: group.url }, twoRest);
  const old = await group.primary();
  await checkOutage(environment, figures, {
    begin: () => old.kill(),
    end: () => group.promotion({ not: old }),
    async after() {
      await old.restart();
      await checkAdmitted(environment, figures, { accounts: 3, limit: 1_000, clients: 64, requests: 2_000 });
    },
  });
});

interface Outage {
  begin(): unknown;
  /** Resolves when Redis can be used again. */
  end(): unknown;
  /** Runs under load after the outage. */
  after?(): Promise<unknown>;
}

/** Makes an outage of Redis under load. The instances decide alone, without a delay, until it is over. */
async function checkOutage(environment: Environment, figures: Figures, outage: Outage): Promise<void> {
  const { services, markFault } = environment;
  await startWithinMinute(20_000);
  const load = await environment.startLoad({ limits });
  await sleep(2_500);
  const beganAtMs = markFault();
  await outage.begin();
  figures.atMost(degradedWithinMs, "degraded after", await millisecondsUntil(services, "degraded"), "ms");
  await outage.end();
  const endedAtMs = nowMs();
  markFault();
  figures.atMost(recoversWithinMs, "shared again after", await millisecondsUntil(services, "ready"), "ms");
  markFault();
  await outage.after?.();
  await sleep(2_000);
  await load.stop();
  checkLatency(figures, load, beganAtMs, endedAtMs);
}
