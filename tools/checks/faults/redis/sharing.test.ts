// @module-tag redis-server
import { unhurried } from "../../src/store-database.js";
import { twoOfEach } from "../environment/apis.js";
import { it } from "../environment/environment.js";
import { checkAdmitted } from "../environment/measures.js";
import { slowRedisAllowed } from "../environment/services.js";

/** Neither server has a fault here, and a busy machine exceeds the default timeouts. */
const settings = { ...slowRedisAllowed, ...unhurried };

it("shared-exactly: 4 processes admit exactly 1,000 of 10,000 requests, 50 times", async ({ environment, figures }) => {
  await environment.startWithRedis(settings, twoOfEach);
  await checkAdmitted(environment, figures, { accounts: 50, limit: 1_000, clients: 200, requests: 10_000 });
});

it("limit-1: 4 processes admit exactly 1 of 1,000 simultaneous requests, 5 times", async ({ environment, figures }) => {
  await environment.startWithRedis(settings, twoOfEach);
  await checkAdmitted(environment, figures, { accounts: 5, limit: 1, clients: 1_000, requests: 1_000 });
});
