import { formatTable } from "@petstore/harness/figures";
import { openRedisServer } from "@petstore/harness/redis";
import { Redis } from "ioredis";
import { createLocalQuota } from "../src/quota/engines/local-quota.js";
import { type OpenedQuota, openAtVirtualTime } from "../test/quota/caller.js";
import { type CompareOptions, compareEngines } from "../test/quota/random/compare-engines.js";
import { createNaiveQuota } from "../test/quota/random/naive-quota.js";
import { boundaryDirected, burstDense, scriptPolicy } from "../test/quota/random/operations.js";
import { banFaults } from "./ban-faults.js";
import { assertEveryKeyHasTtl } from "./differential.js";
import { count, type Suite } from "./figure.js";
import { plant, type Replacement } from "./plant.js";
import { windowFaults } from "./window-faults.js";

const requiredMutants = 14;
/** Each round plays about 50 scripts of each generator. The best hidden fault needed a small part of these rounds. */
const rounds = 40;

const generators = [
  { generator: "burst-dense", scripts: burstDense },
  { generator: "boundary-directed", scripts: boundaryDirected },
];

/** How a fault was caught. Undefined: it escaped. */
type Caught = string | undefined;
type Judged = Pick<CompareOptions, "open" | "inspect">;

export const mutants: Suite = {
  name: "mutants",
  summary: "faults planted in the source of either engine: the comparisons must catch each of them",
  async run({ seed, print, progress }) {
    await using server = await openRedisServer();
    const rows: { readonly engine: string; readonly fault: string; readonly caughtBy: Caught }[] = [];
    for (const { fault, redis, local } of [...windowFaults, ...banFaults]) {
      if (redis) rows.push({ engine: "redis", fault, caughtBy: await huntInRedis(fault, redis, server.url, seed) });
      if (local) rows.push({ engine: "local", fault, caughtBy: await huntInLocal(fault, local, seed) });
      if (rows.length % 10 < 2)
        progress(`${rows.length} planted, ${rows.filter(({ caughtBy }) => caughtBy !== undefined).length} caught`);
    }
    const lines = rows.map(({ engine, fault, caughtBy }) => [engine, fault, caughtBy ?? "ESCAPED"]);
    print(`\n${formatTable([["in", "planted fault", "caught by"], ...lines])}\n`);
    const caught = rows.filter(({ caughtBy }) => caughtBy !== undefined);
    return [
      {
        figure: "mutants: planted in the source of the engines",
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

/** The local quota judges a fault in the script. */
async function huntInRedis(fault: string, replacement: Replacement, url: string, seed: number): Promise<Caught> {
  await using planted = await plant(replacement);
  const redis = new Redis(url);
  const open = () =>
    [
      openAtVirtualTime(({ now }) => planted.createRedisQuota({ redis, banPolicy: scriptPolicy, now })),
      openAtVirtualTime(({ now }) => createLocalQuota({ banPolicy: scriptPolicy, now, capacity: 8 })),
    ] as const;
  const inspect = (accountPrefix: string) => assertEveryKeyHasTtl(redis, accountPrefix);
  try {
    return await hunt(fault, { open, inspect }, seed);
  } finally {
    redis.disconnect();
  }
}

/** The naive model judges a fault in the local quota. */
async function huntInLocal(fault: string, replacement: Replacement, seed: number): Promise<Caught> {
  await using planted = await plant(replacement);
  const open = () =>
    [
      openAtVirtualTime(({ now }) => planted.createLocalQuota({ banPolicy: scriptPolicy, now, capacity: 8 })),
      openAtVirtualTime(({ now }) => createNaiveQuota({ banPolicy: scriptPolicy, now })),
    ] as const;
  return hunt(fault, { open }, seed);
}

async function hunt(fault: string, judged: Judged, seed: number): Promise<Caught> {
  await assertAlive(judged.open()[0], fault);
  let calls = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const { generator, scripts } of generators) {
      const name = `${fault}-${generator}-${round}`;
      const options = { scripts, name, seed: seed + round, atLeastCalls: 1, shrinks: false };
      const compared = await compareEngines({ ...options, ...judged });
      calls += compared.calls;
      if (compared.difference !== undefined) return `${generator}, ${count(calls)} calls: ${compared.difference}`;
    }
  }
  return undefined;
}

/** A mutant that admits nothing would be caught too, and would prove nothing. */
async function assertAlive({ quota, setNow }: OpenedQuota, fault: string): Promise<void> {
  const who = { account: `alive: ${fault}`, key: "key", limits: { perMinute: 10, perDay: 10 } };
  setNow(Date.UTC(2031, 4, 14, 12));
  const admitted = await quota.reserve({ ...who, cost: 1 });
  await quota.refund({ ...who, cost: 1, heldIn: admitted });
  await quota.usage(who);
  if (admitted.outcome !== "admitted") throw new Error(`This mutant admits nothing: ${fault}`);
}
