import { openRedisServer } from "@petstore/testing/redis";
import { Redis } from "ioredis";
import { createLocalQuota } from "../src/quota/local-quota.js";
import type { Quota } from "../src/quota/quota.js";
import { openAtVirtualTime } from "../test/quota/caller.js";
import { type CompareOptions, compareEngines } from "../test/quota/compare-engines.js";
import { createNaiveQuota } from "../test/quota/naive-quota.js";
import { boundaryDirected, burstDense, scriptPolicy } from "../test/quota/operations.js";
import { type Fault, faults } from "./faults.js";
import { count, type Section, table } from "./figure.js";
import { assertEveryKeyHasTtl } from "./key-ttl.js";
import { plant } from "./plant.js";

const requiredMutants = 14;
/** Of each generator: several times what the best hidden fault was seen to need. */
const callsToCatch = 60_000;

type Judged = Pick<CompareOptions, "engines" | "inspect">;

export const mutants: Section = {
  name: "mutants",
  summary: "faults planted in the source of either engine, each of which the comparisons have to find",
  async run({ seed, print, progress }) {
    await using server = await openRedisServer();
    const rows: { readonly engine: string; readonly fault: string; readonly caughtBy: string | undefined }[] = [];
    for (const fault of faults) {
      if (fault.redis !== undefined) {
        rows.push({ engine: "redis", fault: fault.fault, caughtBy: await huntInRedis(fault, server.url, seed) });
      }
      if (fault.local !== undefined) {
        rows.push({ engine: "local", fault: fault.fault, caughtBy: await huntInLocal(fault, seed) });
      }
      progress(`${rows.length} planted, ${rows.filter(({ caughtBy }) => caughtBy !== undefined).length} caught`);
    }
    const lines = rows.map(({ engine, fault, caughtBy }) => [engine, fault, caughtBy ?? "ESCAPED"]);
    print(`\n${table([["in", "planted fault", "caught by"], ...lines])}`);
    const caught = rows.filter(({ caughtBy }) => caughtBy !== undefined);
    return [
      {
        figure: "mutants: planted, the engines' source replaced",
        required: `at least ${requiredMutants}`,
        measured: count(rows.length),
        isMet: rows.length >= requiredMutants,
      },
      {
        figure: "mutants: caught",
        required: "all",
        measured: `${caught.length} of ${rows.length}`,
        isMet: caught.length === rows.length,
      },
    ];
  },
};

/** A fault in the script is judged by the local quota. */
async function huntInRedis({ fault, redis: replacement }: Fault, url: string, seed: number): Promise<string | undefined> {
  if (replacement === undefined) return undefined;
  await using planted = await plant(replacement);
  const redis = new Redis(url);
  const open = () => openAtVirtualTime(({ now }) => createLocalQuota({ banPolicy: scriptPolicy, now, capacity: 8 }));
  try {
    const mutant = openAtVirtualTime(({ now }) => planted.createRedisQuota({ redis, banPolicy: scriptPolicy, now }));
    await assertAlive(mutant.quota, fault);
    const inspect = (accountPrefix: string) => assertEveryKeyHasTtl(redis, accountPrefix);
    return await hunt(fault, { engines: [mutant, open()], inspect }, seed);
  } finally {
    redis.disconnect();
  }
}

/** A fault in the local quota, which is also what the script is judged by, is judged by the model. */
async function huntInLocal({ fault, local: replacement }: Fault, seed: number): Promise<string | undefined> {
  if (replacement === undefined) return undefined;
  await using planted = await plant(replacement);
  const options = { banPolicy: scriptPolicy, capacity: 8 };
  const mutant = openAtVirtualTime(({ now }) => planted.createLocalQuota({ ...options, now }));
  await assertAlive(mutant.quota, fault);
  const model = openAtVirtualTime(({ now }) => createNaiveQuota({ banPolicy: scriptPolicy, now }));
  return hunt(fault, { engines: [mutant, model] }, seed);
}

async function hunt(fault: string, judged: Judged, seed: number): Promise<string | undefined> {
  let calls = 0;
  for (const [generator, scripts] of [
    ["burst-dense", burstDense],
    ["boundary-directed", boundaryDirected],
  ] as const) {
    const name = `${fault}-${generator}`;
    const options = { scripts, name, seed, atLeastCalls: callsToCatch, shrinks: false };
    const compared = await compareEngines({ ...options, ...judged });
    calls += compared.calls;
    if (compared.difference !== undefined) return `${generator}, ${count(calls)} calls: ${compared.difference}`;
  }
  return undefined;
}

/** A mutant that does nothing at all would be caught too, and would prove nothing. */
async function assertAlive(quota: Quota, fault: string): Promise<void> {
  const who = { account: `alive: ${fault}`, key: "key", limits: { perMinute: 10, perDay: 10 } };
  const admitted = await quota.reserve({ ...who, cost: 1 });
  await quota.refund({ ...who, cost: 1, spentIn: admitted });
  await quota.usage(who);
  if (admitted.outcome !== "admitted") throw new Error(`This mutant admits nothing: ${fault}`);
}
