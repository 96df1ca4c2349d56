// The same random calls at the same virtual times to two engines: all replies must be equal, and each fault that is
// planted in the source of an engine must be caught.
import { openRedisServer, type RedisServer } from "@petstore/harness/redis";
import { it } from "@petstore/harness/test-with-figures";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { createLocalQuota } from "../src/quota/engines/local-quota.js";
import { createRedisQuota } from "../src/quota/engines/redis-quota.js";
import { type OpenedQuota, openAtVirtualTime } from "../test/quota/caller.js";
import { everyKeyHasTtl, findDifference } from "../test/quota/random/difference.js";
import { createNaiveQuota } from "../test/quota/random/naive-quota.js";
import { generators, scriptPolicy } from "../test/quota/random/operations.js";
import { faultsByModule } from "./faults.js";
import { type Fault, plant } from "./plant.js";

/** Each round plays about 50 scripts of each generator. The best hidden fault needed a small part of these rounds. */
const rounds = 40;
const calls = 250_000;
/** Comparisons that run at once, so that their round trips overlap. */
const lanes = 8;
const faults: Fault[] = Object.entries(faultsByModule).flatMap(([module, ofModule]) =>
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

it.for(generators)(
  `the script replies to ${calls} $generator calls like the local quota`,
  async (given, { figures }) => {
    const compared = await Promise.all(
      Array.from({ length: lanes }, (_, lane) =>
        findDifference({
          scripts: given.scripts,
          open: () => [openRedis(createRedisQuota), openLocal(createLocalQuota)],
          name: `${given.generator}-${lane}`,
          seed: Math.floor(Math.random() * 2 ** 31),
          atLeastCalls: calls / lanes,
        }),
      ),
    );
    const differences = compared.filter((difference) => difference !== undefined);
    figures.exactly(0, "differences", differences.length);
    expect(differences).toEqual([]);
  },
);

describe("a fault in the script, judged by the local quota", () => {
  it.for(faults.filter(isInRedis))("is caught: $fault", async (fault, { figures }) => {
    await using planted = await plant(fault);
    const open = () => [openRedis(planted.createRedisQuota), openLocal(createLocalQuota)] as const;
    const inspect = (accountPrefix: string) => everyKeyHasTtl(redis, accountPrefix);
    figures.atMost(rounds, "rounds until it is caught", await roundsUntilCaught(fault.fault, open, inspect));
  });
});

describe("a fault in the local quota, judged by the naive model", () => {
  it.for(faults.filter((fault) => !isInRedis(fault)))("is caught: $fault", async (fault, { figures }) => {
    await using planted = await plant(fault);
    const naive = () => openAtVirtualTime(({ now }) => createNaiveQuota({ banPolicy, now }));
    const open = () => [openLocal(planted.createLocalQuota), naive()] as const;
    figures.atMost(rounds, "rounds until it is caught", await roundsUntilCaught(fault.fault, open));
  });
});

function openRedis(create: typeof createRedisQuota): OpenedQuota {
  return openAtVirtualTime(({ now }) => create({ redis, banPolicy, now }));
}

function openLocal(create: typeof createLocalQuota): OpenedQuota {
  return openAtVirtualTime(({ now }) => create({ banPolicy, now, capacity: 8 }));
}

/** More than `rounds` if the fault escapes. */
async function roundsUntilCaught(
  fault: string,
  open: () => readonly [OpenedQuota, OpenedQuota],
  inspect?: (accountPrefix: string) => Promise<void>,
): Promise<number> {
  await expectAlive(open()[0], fault);
  for (let seed = 1; seed <= rounds; seed += 1) {
    for (const { generator, scripts } of generators) {
      const name = `${fault}-${generator}-${seed}`;
      const options = { scripts, open, name, seed, atLeastCalls: 1, shrinks: false, ...(inspect && { inspect }) };
      if ((await findDifference(options)) !== undefined) return seed;
    }
  }
  return rounds + 1;
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
