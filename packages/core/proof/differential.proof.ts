import { openRedisServer } from "@petstore/harness/redis";
import { Redis } from "ioredis";
import { createLocalQuota } from "../src/quota/engines/local-quota.js";
import { createRedisQuota } from "../src/quota/engines/redis-quota.js";
import { openAtVirtualTime } from "../test/quota/caller.js";
import { compareEngines } from "../test/quota/random/compare-engines.js";
import { boundaryDirected, burstDense, scriptPolicy } from "../test/quota/random/operations.js";
import { count, type Suite } from "./figure.js";

const requiredCalls = 500_000;
/** Comparisons that run at once, so that their round trips overlap. */
const lanes = 8;
const steps = 5;

const generators = [
  { generator: "burst-dense", scripts: burstDense },
  { generator: "boundary-directed", scripts: boundaryDirected },
];

export const differential: Suite = {
  name: "differential",
  summary: "the same random calls at the same virtual times to the local quota and to Redis: all replies must be equal",
  async run({ seed, progress }) {
    await using server = await openRedisServer();
    const redis = new Redis(server.url);
    const differences: string[] = [];
    const beganMs = performance.now();
    let calls = 0;
    try {
      for (const { generator, scripts } of generators) {
        for (let step = 0; step < steps; step += 1) {
          const compared = await Promise.all(
            Array.from({ length: lanes }, (_, lane) =>
              compareEngines({
                scripts,
                open: () => [
                  openAtVirtualTime(({ now }) => createRedisQuota({ redis, banPolicy: scriptPolicy, now })),
                  openAtVirtualTime(({ now }) => createLocalQuota({ banPolicy: scriptPolicy, now, capacity: 8 })),
                ],
                name: `${generator}-${step}-${lane}`,
                seed: seed + step * lanes + lane,
                atLeastCalls: requiredCalls / generators.length / steps / lanes,
                inspect: (accountPrefix) => assertEveryKeyHasTtl(redis, accountPrefix),
              }),
            ),
          );
          calls += compared.reduce((sum, one) => sum + one.calls, 0);
          const found = compared.flatMap(({ difference }) => difference ?? []);
          for (const difference of found) progress(difference);
          differences.push(...found);
          progress(`${generator}: ${count(calls)} calls, ${differences.length} differences`);
        }
      }
    } finally {
      redis.disconnect();
    }
    const seconds = Math.round((performance.now() - beganMs) / 1_000);
    return [
      {
        figure: "differential: calls compared",
        required: `at least ${count(requiredCalls)}`,
        measured: `${count(calls)} in ${seconds} s`,
        isMet: calls >= requiredCalls,
      },
      {
        figure: "differential: different replies, keys without a TTL",
        required: "0",
        measured: count(differences.length),
        isMet: differences.length === 0,
      },
    ];
  },
};

/** Reads all keys that a script can have made: it has two accounts with two API keys each. */
export async function assertEveryKeyHasTtl(redis: Redis, accountPrefix: string): Promise<void> {
  const accounts = [0, 1].map((account) => `petstore:quota:2:{${accountPrefix}account-${account}}`);
  const keys = accounts.flatMap((account) => [account, `${account}:key-0`, `${account}:key-1`]);
  const ttls = await Promise.all(keys.map((key) => redis.pttl(key)));
  if (ttls.includes(-1)) throw new Error("a key without a TTL");
}
