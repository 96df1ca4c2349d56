import { setTimeout as sleep } from "node:timers/promises";
import { openRedisServer, type RedisServer } from "@petstore/harness/redis";
import { nowMs } from "./ask.js";
import { atMost, checkLatency, checkWindows, countTransitions, exactly } from "./measure.js";
import type { Check, Scenario } from "./scenario.js";
import type { Service } from "./service.js";
import { millisecondsUntil, type Stage, withinOneMinute } from "./stage.js";

/** Used up within seconds by the usual load, so that every window a fault touches is asked for more than it has. */
export const limits = { perMinute: 3_000, perDay: 10_000_000 };
export const backWithinMs = 2_000;
export const bothDegraded = "both instances degraded after";

interface Outage extends Omit<Scenario, "group" | "run"> {
  readonly seconds?: (stage: Stage) => number;
  readonly fail: (redis: RedisServer) => Promise<unknown>;
  readonly recover: (redis: RedisServer) => Promise<unknown>;
}

/** A fault of one Redis that begins and ends under load. */
export function outage({ seconds = () => 3, fail, recover, ...described }: Outage): Scenario {
  return {
    group: "redis",
    needs: ["redis-server"],
    ...described,
    async run(stage) {
      const redis = stage.use(await openRedisServer());
      const services = await stage.startServices([redis.url]);
      await withinOneMinute(15_000);
      const load = await stage.load({ limits });
      await sleep(2_500);
      const failedAtMs = stage.mark();
      await fail(redis);
      const degraded = await millisecondsUntil("degraded", services);
      await sleep(seconds(stage) * 1_000 + failedAtMs - nowMs());
      const recoveredAtMs = stage.mark();
      await recover(redis);
      const back = await millisecondsUntil("ready", services);
      await sleep(2_000);
      await load.stop();
      return [
        atMost(500, bothDegraded, degraded, "ms"),
        atMost(backWithinMs, "shared again after", back, "ms"),
        ...checkLatency(load, failedAtMs, recoveredAtMs),
        ...checkWindows(stage, load.exchanges),
        ...(await checkTransitions(services, 1)),
      ];
    },
  };
}

export async function checkTransitions(
  services: readonly Service[],
  outages: number,
  returns: number = outages,
): Promise<Check[]> {
  // A service writes its log at most that late.
  await sleep(1_200);
  const { away, back } = countTransitions(services);
  return [
    exactly(outages * services.length, "log lines that Redis went", away),
    exactly(returns * services.length, "log lines that it returned", back),
  ];
}
