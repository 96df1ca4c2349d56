import { openRedisServer } from "@petstore/harness/redis";
import { apis } from "./api.js";
import { noticesWithinMs, startBalancer } from "./balancer.js";
import { patient } from "./environment.js";
import { atLeast, atMost, exactly } from "./measure.js";
import type { Scenario } from "./scenario.js";
import { roomy } from "./stage.js";

/** Four in all. */
const processesEach = 4 / apis.length;
const rounds = 2;
const wantedRequests = 50_000;
const graceMs = 2 * noticesWithinMs;
/** Redis and PostgreSQL are never away here: a machine too busy for the defaults would turn this into a row about that. */
const unhurried = {
  ...patient,
  DATABASE_ACQUIRE_TIMEOUT_MS: "4000",
  DATABASE_READ_TIMEOUT_MS: "4000",
  DATABASE_WRITE_TIMEOUT_MS: "4000",
};

export const rollingScenarios: readonly Scenario[] = [
  {
    group: "rolling",
    needs: ["redis-server", "haproxy"],
    name: "rolling-restart",
    cause: `SIGTERM to each of ${processesEach * apis.length} processes behind HAProxy, and a new one, ${rounds} times, under load`,
    expected: `0 errors in ${wantedRequests} requests, exit codes 0`,
    async run(stage) {
      const redis = stage.use(await openRedisServer());
      const instances = apis.flatMap((api) => Array.from({ length: processesEach }, () => ({ api })));
      const environment = { ...unhurried, SHUTDOWN_GRACE_MS: `${graceMs}` };
      const running = [...(await stage.startServices([redis.url], environment, instances))];
      const balancer = stage.use(await startBalancer(running));
      const load = await stage.load({ limits: roomy, on: [balancer], apis, callers: 32, pauseMs: 5 });
      const exitCodes: (number | null)[] = [];
      const stops: number[] = [];
      for (let restart = 0; restart < rounds * instances.length; restart += 1) {
        const index = restart % instances.length;
        const service = running[index];
        if (service === undefined) throw new Error("there is no such service");
        const restarted = await stage.restart(service);
        running[index] = restarted.service;
        exitCodes.push(restarted.exitCode);
        stops.push(restarted.stoppedWithinMs);
        await balancer.untilUp(instances.length);
      }
      const during = load.exchanges.length;
      while (load.exchanges.length < wantedRequests) await new Promise((resolve) => setTimeout(resolve, 100));
      await load.stop();
      const { exchanges } = load;
      return [
        exactly(rounds * instances.length, "restarts", exitCodes.length),
        exactly(0, "exit codes other than 0", exitCodes.filter((code) => code !== 0).length),
        atLeast(wantedRequests, "requests", exchanges.length),
        atLeast(10_000, "of them while processes were restarted", during),
        exactly(
          0,
          "answers other than 200 and 201",
          exchanges.filter(({ status }) => ![200, 201].includes(status)).length,
        ),
        atMost(graceMs + 2_500, "slowest stop", Math.max(...stops), "ms"),
        atMost(5_000, "slowest answer", Math.max(...exchanges.map(({ durationMs }) => durationMs)), "ms"),
      ];
    },
  },
];
