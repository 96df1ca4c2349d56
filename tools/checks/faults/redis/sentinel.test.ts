// @module-tag redis-server
import { openRedisSentinels } from "@petstore/harness/redis";
import { it } from "../environment/environment.js";
import { checkAdmitted } from "../environment/measures.js";
import { twoRest } from "../environment/services.js";
import { checkOutage } from "./check-outage.js";

it("sentinel-killed: follows the promotion, and stays there when the old primary returns empty", async ({
  environment,
  figures,
}) => {
  const group = environment.use(await openRedisSentinels());
  await environment.startServices({ REDIS_URL: group.url }, twoRest);
  await environment.warmUp();
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
