// @module-tag redis-server
import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "@petstore/harness/network";
import { twoOfEach } from "../environment/apis.js";
import { it } from "../environment/it.js";
import { checkAdmitted } from "../environment/measures.js";
import { endOf, isBanned, type Result } from "../environment/results.js";
import { quickBans, slowRedisAllowed } from "../environment/services.js";
import { withinOneMinute } from "../environment/waits.js";

const hourMs = 3_600_000;
const banMs = 3_000;

it("shared-exactly: 4 processes admit exactly 1,000 of 10,000 requests, 50 times", async ({ environment, figures }) => {
  await environment.startWithRedis(slowRedisAllowed, twoOfEach);
  await checkAdmitted(environment, figures, { accounts: 50, limit: 1_000, clients: 200, requests: 10_000 });
});

it("limit-1: 4 processes admit exactly 1 of 1,000 simultaneous requests, 5 times", async ({ environment, figures }) => {
  await environment.startWithRedis(slowRedisAllowed, twoOfEach);
  await checkAdmitted(environment, figures, { accounts: 5, limit: 1, clients: 1_000, requests: 1_000 });
});

it("clock-off: keeps the windows of Redis with another clock", { tags: ["faketime"] }, async ({
  environment,
  figures,
}) => {
  const redis = await environment.startWithRedis(slowRedisAllowed, [{}, { clockOffsetMs: hourMs }]);
  const limits = { perMinute: 1_000, perDay: 10_000_000 };
  const shared = await environment.startLoad({ limits, pauseMs: 20, requests: 1_000 });
  environment.markFault();
  await redis.kill();
  const local = await environment.startLoad({ limits, pauseMs: 20, requests: 1_000 });
  figures.count(0, "resets that are not the end of the minute", shared.results, hasOtherReset);
  figures.count(0, "the same while Redis is unavailable", local.results, hasOtherReset);
});

it("clock-off-ban: ends a ban on time with other clocks", { tags: ["faketime"] }, async ({ environment, figures }) => {
  const bans = { ...quickBans, BAN_STRIKES: "20", BAN_FIRST_MS: `${banMs}` };
  const instances = [{}, { clockOffsetMs: 25 * hourMs }, { clockOffsetMs: -hourMs }];
  await environment.startWithRedis({ ...slowRedisAllowed, ...bans }, instances);
  await withinOneMinute(10_000);
  const apiKey = await environment.issueKey({ perMinute: 4, perDay: 10_000_000 });
  const refused = await environment.sendBurst({ clients: 1, apiKey, requests: 60 });
  const endsAtMs = Math.min(...refused.filter(isBanned).map(({ sentAtMs }) => sentAtMs)) + banMs;
  const endedAtMs = await Promise.all(
    environment.services.map(async (service) => {
      while (isBanned(await environment.sendOne(service, apiKey)) && nowMs() < endsAtMs + 2 * banMs) await sleep(50);
      return nowMs();
    }),
  );
  const clocks = ["is right", "is 25 hours ahead", "is an hour behind"];
  for (const [index, atMs] of endedAtMs.entries()) {
    const what = `the ban ends early or late where the clock ${clocks[index]}, by`;
    figures.atMost(1_000, what, Math.abs(atMs - endsAtMs), "ms");
  }
});

function hasOtherReset(result: Result): boolean {
  const ends = [result.sentAtMs, endOf(result)].map((atMs) => (Math.floor(atMs / 60_000) + 1) * 60_000);
  return !ends.includes(result.rateLimit.reset * 1_000);
}
