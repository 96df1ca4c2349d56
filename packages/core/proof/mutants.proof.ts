// Each fault that is planted in the scripts of the Redis engine must be caught: the same random calls at the same virtual
// times to both engines must get unequal replies. test/quota/redis-quota.test.ts tests that they are equal without a fault.
import { shared } from "@petstore/harness";
import { openRedisServer } from "@petstore/harness/redis";
import { it } from "@petstore/harness/test-with-figures";
import { Redis } from "ioredis";
import { afterAll, describe, expect } from "vitest";
import { createRedisQuota } from "../src/quota/engines/redis-quota.js";
import { noon, type OpenedQuota, openAtVirtualTime, openLocal } from "../test/quota/caller.js";
import { everyKeyHasTtl, findDifference } from "../test/quota/random/difference.js";
import { generators, scriptPolicy } from "../test/quota/random/operations.js";
import { faults } from "./faults.js";

/** Each round plays about 50 scripts of each generator. The best hidden fault needed a small part of these rounds. */
const mostRounds = 40;
const banPolicy = scriptPolicy;

const server = await shared(openRedisServer());
const redis = new Redis(server.url);
afterAll(() => redis.disconnect());

// The comparison does not know which engine is wrong, so the same faults in the local quota need no test of their own.
describe("a fault in the script, judged by the local quota", () => {
  it.for(Object.entries(faults))("is caught: %s", async ([fault, [right, wrong]], { figures }) => {
    const faulty = redis.duplicate();
    const define = faulty.defineCommand.bind(faulty);
    faulty.defineCommand = (name, { lua = "", ...definition }) =>
      define(name, { ...definition, lua: lua.replace(right, () => wrong) });
    await expectAlive(openOn(faulty), fault);
    figures.atMost(mostRounds, "rounds until it is caught", await roundsUntilCaught(fault, faulty));
    faulty.disconnect();
  });
});

function openOn(connection: Redis): OpenedQuota {
  return openAtVirtualTime(({ now }) => createRedisQuota({ redis: connection, banPolicy, now }));
}

/** More than `mostRounds` if the fault escapes. */
async function roundsUntilCaught(fault: string, faulty: Redis): Promise<number> {
  const open = () => [openOn(faulty), openLocal({ banPolicy })] as const;
  const inspect = (accountPrefix: string) => everyKeyHasTtl(redis, accountPrefix);
  for (let seed = 1; seed <= mostRounds; seed += 1) {
    for (const { generator, scripts } of generators) {
      const name = `${fault}-${generator}-${seed}`;
      if (await findDifference({ scripts, open, name, seed, atLeastCalls: 1, shrinks: false, inspect })) return seed;
    }
  }
  return mostRounds + 1;
}

/** A mutant that admits nothing would be caught too, and would prove nothing. */
async function expectAlive({ quota, setNow }: OpenedQuota, fault: string): Promise<void> {
  const who = { account: `alive: ${fault}`, key: "key", limits: { perMinute: 10, perDay: 10 } };
  setNow(noon);
  const admitted = await quota.reserve({ ...who, cost: 1 });
  expect(admitted.outcome).toBe("admitted");
  await quota.refund({ ...who, cost: 1, heldIn: admitted });
  await quota.usage(who);
}
