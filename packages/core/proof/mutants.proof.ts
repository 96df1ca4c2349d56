// Faults planted in the source of either engine: the comparisons must catch each of them.
import { openRedisServer, type RedisServer } from "@petstore/harness/redis";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLocalQuota } from "../src/quota/engines/local-quota.js";
import { type OpenedQuota, openAtVirtualTime } from "../test/quota/caller.js";
import { everyKeyHasTtl, findDifference } from "../test/quota/random/difference.js";
import { createNaiveQuota } from "../test/quota/random/naive-quota.js";
import { generators, scriptPolicy } from "../test/quota/random/operations.js";
import { banFaults } from "./ban-faults.js";
import { type Fault, plant } from "./plant.js";
import { windowFaults } from "./window-faults.js";

/** Each round plays about 50 scripts of each generator. The best hidden fault needed a small part of these rounds. */
const rounds = 40;
const faults: Fault[] = [windowFaults, banFaults]
  .flatMap((modules) => Object.entries(modules))
  .flatMap(([module, ofModule]) =>
    Object.entries(ofModule).map(([fault, [right, wrong]]) => ({ module, fault, right, wrong })),
  );
const isInRedis = ({ module }: Fault) => module === "engines/reserve-script" || module === "engines/redis-quota";
const banPolicy = scriptPolicy;

let server: RedisServer;
let redis: Redis;
beforeAll(async () => {
  server = await openRedisServer();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server[Symbol.asyncDispose]();
});

describe("a fault in the script, judged by the local quota", () => {
  it.each(faults.filter(isInRedis))("is caught: $fault", async (fault) => {
    await using planted = await plant(fault);
    const open = () =>
      [
        openAtVirtualTime(({ now }) => planted.createRedisQuota({ redis, banPolicy, now })),
        openAtVirtualTime(({ now }) => createLocalQuota({ banPolicy, now, capacity: 8 })),
      ] as const;
    await expectCaught(fault.fault, open, (accountPrefix) => everyKeyHasTtl(redis, accountPrefix));
  });
});

describe("a fault in the local quota, judged by the naive model", () => {
  it.each(faults.filter((fault) => !isInRedis(fault)))("is caught: $fault", async (fault) => {
    await using planted = await plant(fault);
    const open = () =>
      [
        openAtVirtualTime(({ now }) => planted.createLocalQuota({ banPolicy, now, capacity: 8 })),
        openAtVirtualTime(({ now }) => createNaiveQuota({ banPolicy, now })),
      ] as const;
    await expectCaught(fault.fault, open);
  });
});

async function expectCaught(
  fault: string,
  open: () => readonly [OpenedQuota, OpenedQuota],
  inspect?: (accountPrefix: string) => Promise<void>,
): Promise<void> {
  await expectAlive(open()[0], fault);
  for (let seed = 1; seed <= rounds; seed += 1) {
    for (const { generator, scripts } of generators) {
      const name = `${fault}-${generator}-${seed}`;
      const options = { scripts, open, name, seed, atLeastCalls: 1, shrinks: false, ...(inspect && { inspect }) };
      if ((await findDifference(options)) !== undefined) return;
    }
  }
  expect.fail("The fault escaped.");
}

/** A mutant that admits nothing would be caught too, and would prove nothing. */
async function expectAlive({ quota, setNow }: OpenedQuota, fault: string): Promise<void> {
  const who = { account: `alive: ${fault}`, key: "key", limits: { perMinute: 10, perDay: 10 } };
  setNow(Date.UTC(2031, 4, 14, 12));
  const admitted = await quota.reserve({ ...who, cost: 1 });
  expect(admitted.outcome).toBe("admitted");
  await quota.refund({ ...who, cost: 1, heldIn: admitted });
  await quota.usage(who);
}
