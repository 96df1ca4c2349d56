// The same random calls at the same virtual times to the local quota and to Redis: all replies must be equal.
import { openRedisServer } from "@petstore/harness/redis";
import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { createLocalQuota } from "../src/quota/engines/local-quota.js";
import { createRedisQuota } from "../src/quota/engines/redis-quota.js";
import { openAtVirtualTime } from "../test/quota/caller.js";
import { findDifference } from "../test/quota/random/difference.js";
import { generators, scriptPolicy } from "../test/quota/random/operations.js";

const calls = 250_000;
/** Comparisons that run at once, so that their round trips overlap. */
const lanes = 8;

it.each(generators)(`gives equal replies to ${calls} calls of $generator scripts`, async ({ generator, scripts }) => {
  await using server = await openRedisServer();
  const redis = new Redis(server.url);
  const compared = await Promise.all(
    Array.from({ length: lanes }, (_, lane) =>
      findDifference({
        scripts,
        open: () => [
          openAtVirtualTime(({ now }) => createRedisQuota({ redis, banPolicy: scriptPolicy, now })),
          openAtVirtualTime(({ now }) => createLocalQuota({ banPolicy: scriptPolicy, now, capacity: 8 })),
        ],
        name: `${generator}-${lane}`,
        seed: Math.floor(Math.random() * 2 ** 31),
        atLeastCalls: calls / lanes,
      }),
    ),
  );
  redis.disconnect();
  expect(compared.filter((difference) => difference !== undefined)).toEqual([]);
});
