import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { openRedisServer } from "@petstore/testing/redis";
import { Redis } from "ioredis";
import { createRedisQuota } from "../src/quota/engines/redis-quota.js";
import type { Limits } from "../src/quota/plan.js";
import type { Quota } from "../src/quota/quota.js";
import type { Order, Spent } from "./contender.js";
import { count, type Figure, type Section, type SectionSurroundings } from "./figure.js";

const runs = 50;
const processes = 4;
/** The test's own time: no minute ends while a run is on. */
const noonMs = Date.UTC(2031, 4, 14, 12);

type Progress = SectionSurroundings["progress"];

interface Contest {
  readonly figure: string;
  readonly limits: Limits;
  readonly units: number;
  /** Of each process, all calling at once. */
  readonly callers: number;
  /** Of all processes together. */
  readonly requests: number;
  readonly largestCost: number;
}

const mixed = { units: 1_000, callers: 64, requests: 10_000, largestCost: 8 };
const contests: readonly Contest[] = [
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

export const exactness: Section = {
  name: "exactness",
  summary: `${processes} processes spend one account's units at the same time; none too many, none too few`,
  async run({ progress }) {
    await using server = await openRedisServer();
    using contenders = openContenders(server.url);
    const redis = new Redis(server.url);
    const quota = createRedisQuota({ redis, now: () => noonMs });
    try {
      const figures: Figure[] = [];
      for (const contest of contests) figures.push(await hold(contest, contenders, quota, progress));
      return figures;
    } finally {
      redis.disconnect();
    }
  },
};

async function hold(contest: Contest, contenders: Contenders, quota: Quota, progress: Progress): Promise<Figure> {
  const { figure, limits, units, callers, requests, largestCost } = contest;
  let exact = 0;
  let shared = 0;
  for (let run = 1; run <= runs; run += 1) {
    const account = `${figure}, run ${run}`;
    const beginAtMs = Date.now() + 20;
    const order = { account, limits, callers, requests: requests / processes, largestCost, nowMs: noonMs, beginAtMs };
    const spent = await contenders.spend(order);
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

interface Contenders extends Disposable {
  /** All of them carry the order out at once. */
  spend(order: Order): Promise<readonly Spent[]>;
}

function openContenders(redisUrl: string): Contenders {
  const main = new URL("./contender.js", import.meta.url);
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
    throw new Error("a process of the contest ended before its answer");
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
