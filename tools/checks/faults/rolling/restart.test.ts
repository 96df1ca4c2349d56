// @module-tag redis-server
import { setTimeout as sleep } from "node:timers/promises";
import { apis, twoOfEach } from "../environment/apis.js";
import { it } from "../environment/environment.js";
import { isUnserved, slowestMs } from "../environment/results.js";
import { faultless } from "../environment/services.js";
import { graceMs, replaceEach, startBalancers } from "./replace.js";

const wantedRequests = 50_000;

it("rolling-restart: 8 restarts cause no error", { tags: ["haproxy"] }, async ({ environment, figures }) => {
  await environment.startWithRedis({ ...faultless, SHUTDOWN_GRACE_MS: `${graceMs}` }, twoOfEach);
  const balancers = await startBalancers(environment, environment.services);
  const load = await environment.startLoad({ targets: balancers, clients: 32, pauseMs: 5 });
  const first = await replaceEach(environment, [...environment.services], { balancers, successors: apis });
  const second = await replaceEach(environment, first.services, { balancers, successors: apis });
  const during = load.results.length;
  while (load.results.length < wantedRequests) await sleep(100);
  await load.stop();
  figures.atLeast(10_000, "requests during the restarts", during);
  figures.count(0, "answers other than 200 and 201", load.results, isUnserved);
  figures.atMost(graceMs + 2_500, "the slowest stop", Math.max(first.slowestStopMs, second.slowestStopMs), "ms");
  figures.atMost(5_000, "the slowest answer", slowestMs(load.results), "ms");
});
