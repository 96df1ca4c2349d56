// @module-tag redis-server
import { setTimeout as sleep } from "node:timers/promises";
import { openRedisSentinels, type RedisSentinels } from "@petstore/harness/redis";
import { type Environment, it } from "../environment/environment.js";
import { checkAdmitted } from "../environment/measures.js";
import { count, isSuccess } from "../environment/results.js";
import { type Instance, twoRest } from "../environment/services.js";
import { millisecondsUntil, withinOneMinute } from "../environment/waits.js";
import { checkOutage, recoversWithinMs } from "./check-outage.js";

async function startBehindSentinel(environment: Environment, instances: readonly Instance[]): Promise<RedisSentinels> {
  const group = environment.use(await openRedisSentinels());
  await environment.startServices({ REDIS_URL: group.url }, instances);
  await environment.warmUp();
  return group;
}

it("sentinel-killed: follows the promotion, and stays there when the old primary returns empty", async ({
  environment,
  figures,
}) => {
  const group = await startBehindSentinel(environment, twoRest);
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

it("sentinel-stopped: leaves a primary that stops and continues later, also from an idle instance", async ({
  environment,
  figures,
}) => {
  const group = await startBehindSentinel(environment, [{}, {}, {}]);
  const [busy, idle] = [environment.services.slice(0, 2), environment.services.slice(2)];
  const apiKey = await environment.issueKey({ perMinute: 10_000_000, perDay: 100 });
  const send = (requests: number, targets = busy) => environment.sendBurst({ requests, clients: 4, apiKey }, targets);
  await send(60);
  const old = await group.primary();
  await checkOutage(environment, figures, {
    targets: busy,
    begin: () => old.pause(),
    end: () => group.promotion({ not: old }),
    async after() {
      // From here on the idle instance would be told 60 by the old primary, and 90 by the new one.
      await send(30);
      old.resume();
      const [role] = (await old.command("ROLE")) as readonly unknown[];
      const admitted = count(await send(100, idle), isSuccess);
      figures.count(1, "old primaries that accept writes again", [role], (one) => one === "master");
      figures.exactly(10, "admitted by the idle instance, of the 10 units that are left", admitted);
    },
  });
});

it("sentinel-uneven: keeps the stated bound if one instance knows the units of the other no more", async ({
  environment,
  figures,
}) => {
  const group = await startBehindSentinel(environment, twoRest);
  const { services, markFault } = environment;
  const [first, second] = services.map((service) => [service]);
  const bound = 2 - 1 / services.length;
  environment.allowShare(bound);
  await withinOneMinute(25_000);
  const limits = { perMinute: 1_000, perDay: 10_000_000 };
  // The second instance last hears of the account when one unit is used.
  const early = await environment.startLoad({ limits, targets: second ?? [], clients: 1, requests: 1 });
  const { apiKey } = early;
  const used = await environment.startLoad({ apiKey, targets: first ?? [], clients: 16, pauseMs: 0, requests: 900 });
  const old = await group.primary();
  markFault();
  await old.kill();
  const late = await environment.startLoad({ apiKey, targets: second ?? [] });
  await group.promotion({ not: old });
  const sharedMs = await millisecondsUntil(services, "ready");
  markFault();
  figures.atMost(recoversWithinMs, "shared again after the promotion", sharedMs, "ms");
  await sleep(1_000);
  await late.stop();
  const granted = count([...early.results, ...used.results, ...late.results], isSuccess);
  figures.atLeast(limits.perMinute, "granted in the minute of the failover", granted);
  figures.atMost(limits.perMinute * bound, "granted in the minute of the failover", granted);
  await checkAdmitted(environment, figures, { accounts: 3, limit: 1_000, clients: 64, requests: 2_000 });
});
