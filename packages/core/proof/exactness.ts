import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { openRedisServer } from "@petstore/harness/redis";
import { Redis } from "ioredis";
import { createRedisQuota } from "../src/quota/engines/redis-quota.js";
import type { Limits } from "../src/quota/plan.js";
import type { Quota } from "../src/quota/quota.js";
import { count, type Figure, type Suite, type SuiteContext } from "./figure.js";
import type { Order, Spent } from "./spender.js";

const runs = 50;
const processes = 4;
/** Virtual time: no minute ends during a run. */
const noonMs = Date.UTC(2031, 4, 14, 12);

type Progress = SuiteContext["progress"];

interface ExactnessCase {
  readonly figure: string;
  readonly limits: Limits;
  readonly units: number;
  /** The number of simultaneous callers in each process. */
  readonly callers: number;
  /** The number of requests of all processes together. */
  readonly requests: number;
  readonly largestCost: number;
}

const mixed = { units: 1_000, callers: 64, requests: 10_000, largestCost: 8 };
const cases: readonly ExactnessCase[] = [
  { figure: "minute of 1,000 units", limits: { perMinute: 1_000, perDay: 100_000 }, ...mixed },
  { figure: "day of 1,000 units", limits: { perMinute: 100_000, perDay: 1_000 }, ...mixed },
  {
    figure: "minute of 1 unit, 1,000 at once",
    limits: { perMinute: 1, perDay: 1_000 },
    units: 1,
    callers: 250,
    requests: 1_000,
    largestCost: 1,
  },
];

export const exactness: Suite = {
  name: "exactness",
  summary: `${processes} processes spend one account's units at the same time: exactly the limit is granted`,
  async run({ progress }) {
    await using server = await openRedisServer();
    using spenders = openSpenders(server.url);
    const redis = new Redis(server.url);
    const quota = createRedisQuota({ redis, now: () => noonMs });
    try {
      const figures: Figure[] = [];
      for (const testCase of cases) figures.push(await runCase(testCase, spenders, quota, progress));
      return figures;
    } finally {
      redis.disconnect();
    }
  },
};

async function runCase(testCase: ExactnessCase, spenders: Spenders, quota: Quota, progress: Progress): Promise<Figure> {
  const { figure, limits, units, callers, requests, largestCost } = testCase;
  let exact = 0;
  let shared = 0;
  for (let run = 1; run <= runs; run += 1) {
    const account = `${figure}, run ${run}`;
    const beginAtMs = Date.now() + 20;
    const order = { account, limits, callers, requests: requests / processes, largestCost, nowMs: noonMs, beginAtMs };
    const spent = await spenders.spend(order);
    const granted = spent.reduce((sum, one) => sum + one.units, 0);
    const { minute, day } = await quota.usage({ account, limits });
    if (granted === units && minute.used === units && day.used === units) exact += 1;
    else progress(`${account}: ${granted} granted, ${minute.used} and ${day.used} counted`);
    if (spent.filter((one) => one.units > 0).length > 1) shared += 1;
    if (run % 10 === 0) progress(`${figure}: ${exact} of ${run} runs exact; last time ${split(spent)}`);
  }
  return {
    figure: `exact: ${figure}, ${processes} x ${callers} callers, ${count(requests)} requests`,
    required: `${runs} of ${runs} runs`,
    measured: `${exact} of ${runs} runs${units > 1 ? `, units shared in ${shared}` : ""}`,
    isMet: exact === runs,
  };
}

interface Spenders extends Disposable {
  /** All processes execute the order at once. */
  spend(order: Order): Promise<readonly Spent[]>;
}

function openSpenders(redisUrl: string): Spenders {
  const main = new URL("./spender.js", import.meta.url);
  const children = Array.from({ length: processes }, (_, index) => fork(main, [redisUrl, `key-${index}`]));
  return {
    spend: (order) => Promise.all(children.map((child) => ask(child, order))),
    [Symbol.dispose]() {
      for (const child of children) child.kill();
    },
  };
}

async function ask(child: ChildProcess, order: Order): Promise<Spent> {
  const done = new AbortController();
  const answer = once(child, "message", { signal: done.signal });
  const end = once(child, "exit", { signal: done.signal }).then(() => {
    throw new Error("a process ended before it sent its result");
  });
  child.send(order);
  try {
    const [spent] = await Promise.race([answer, end]);
    return spent;
  } finally {
    done.abort();
    await Promise.allSettled([answer, end]);
  }
}

function split(spent: readonly Spent[]): string {
  return `the processes got ${spent.map(({ units }) => units).join(" + ")} units`;
}
