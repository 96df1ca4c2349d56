// @module-tag redis-server
import { setTimeout as sleep } from "node:timers/promises";
import { it } from "../environment/environment.js";
import { twoRest } from "../environment/services.js";
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
