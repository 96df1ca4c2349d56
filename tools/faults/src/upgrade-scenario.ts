import { openRedisServer } from "@petstore/harness/redis";
import { apis } from "./api.js";
import { patient } from "./environment.js";
import { isGood } from "./exchange.js";
import { atLeast, checkAlive, count, exactly } from "./measure.js";
import { buildPreviousRelease } from "./previous-release.js";
import type { Scenario } from "./scenario.js";
import { roomy } from "./stage.js";

const loadRequests = 10_000;
const dayLimit = 1_000;
const accounts = 10;
const requestsOfAccount = 3_000;

/** The previous release and this one share one PostgreSQL and one Redis, as they do while instances are replaced. */
export const upgradeScenario: Scenario = {
  group: "rolling",
  needs: ["redis-server", "git", "tar"],
  name: "rolling-upgrade",
  cause: "the previous release and this one side by side, one REST and one GraphQL instance of each, under load",
  expected: `0 errors in ${loadRequests} requests; exactly ${dayLimit} admitted of each of ${accounts} accounts`,
  async run(stage) {
    const previous = stage.use(await buildPreviousRelease());
    const redis = stage.use(await openRedisServer());
    const instances = apis.flatMap((api) => [{ api: { ...api, main: previous.main(api.name) } }, { api }]);
    const services = await stage.startServices([redis.url], patient, instances);
    const load = await stage.load({ limits: roomy, on: services, callers: 32, pauseMs: 0, requests: loadRequests });
    await load.done;
    const admitted: number[] = [];
    for (let account = 0; account < accounts; account += 1) {
      // Limited by the day, so that no window ends in the middle.
      const limits = { perMinute: 10_000_000, perDay: dayLimit };
      const one = await stage.load({ limits, on: services, callers: 64, requests: requestsOfAccount, pauseMs: 0 });
      await one.done;
      admitted.push(one.exchanges.filter(isGood).length);
    }
    const errors = count(load.exchanges, ({ status }) => status !== 200 && status !== 201);
    return [
      atLeast(loadRequests, "requests to both releases", load.exchanges.length),
      exactly(0, "answers other than 200 and 201", errors),
      exactly(dayLimit, `admitted of ${requestsOfAccount}, the fewest`, Math.min(...admitted)),
      exactly(dayLimit, `admitted of ${requestsOfAccount}, the most`, Math.max(...admitted)),
      ...checkAlive(services),
    ];
  },
};
