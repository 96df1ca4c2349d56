import type { RedisServer } from "@petstore/harness/redis";
import { type Benchmark, type Measured, type Measures, type Target, usual } from "../benchmark.js";
import { measureRounds, profileEach, type Turn } from "../rounds.js";
import { disposableList, openPrivateRedis } from "../servers/environment.js";
import { askProgram, builtFile, type ProbedProgram, startProbedProgram } from "../servers/probed-program.js";

/** As many decisions as the time allows, for each account in turn. */
export interface EngineOrder {
  readonly kind: "load";
  readonly callers: number;
  readonly seconds: number;
  readonly accounts: number;
}

export interface EngineLoad {
  readonly decisions: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const measures: Measures = {
  decisionsPerSecond: { label: "decisions/s", digits: 0 },
  p50Ms: { label: "p50 ms", digits: 3 },
  p99Ms: { label: "p99 ms", digits: 3 },
  cpuMicroseconds: { label: "CPU us/decision", digits: 2 },
  bytesPerAccount: { label: "Redis bytes/account", digits: 0 },
};

const engines = ["petstore-redis", "rlf-union", "petstore-local"];
const petstorePrefix = "petstore:quota:";

/** A decision about a minute and a day, before all other work of a request. All requests are admitted. */
export const quota: Benchmark = quotaBenchmark(
  "quota",
  "decide about a minute and a day, for 10,000 accounts",
  10_000,
  [
    { measure: "decisionsPerSecond", of: "petstore-redis", against: "rlf-union", atLeast: 1.3 },
    { measure: "bytesPerAccount", of: "petstore-redis", atMost: 250, uncounted: "information" },
    { measure: "decisionsPerSecond", of: "petstore-local", atLeast: 1_000_000, uncounted: "information" },
  ],
);

export const hotAccountQuota: Benchmark = quotaBenchmark("quota-hot-account", "the same for one account", 1, [
  { measure: "decisionsPerSecond", of: "petstore-redis", against: "rlf-union", atLeast: 1.6 },
]);

interface Engine {
  readonly name: string;
  readonly program: ProbedProgram;
}

function quotaBenchmark(name: string, summary: string, accounts: number, targets: readonly Target[]): Benchmark {
  return {
    name,
    summary,
    measures,
    targets,
    defaults: { ...usual, connections: [64] },
    async run(options, deps) {
      await using redis = await openPrivateRedis();
      await using programs = disposableList<ProbedProgram>();
      const running: Engine[] = [];
      for (const engine of engines) {
        const program = startProbedProgram({
          name: engine,
          main: builtFile("quota/engine/main.js"),
          environment: { ENGINE: engine, REDIS_URL: redis.url },
        });
        programs.items.push(program);
        await program.printed(/ready/);
        running.push({ name: engine, program });
      }
      const measure = (engine: Engine, turn: Turn) => measureEngine(engine, redis, accounts, turn);
      const tables = await measureRounds(running, options, deps, measure);
      await profileEach(running, options, deps, measure);
      return tables;
    },
  };
}

async function measureEngine(
  { name, program }: Engine,
  redis: RedisServer,
  accounts: number,
  { connections: callers, seconds, isWarmUp }: Turn,
): Promise<Measured> {
  const order: EngineOrder = { kind: "load", callers, seconds, accounts };
  const before = await program.usage();
  const load = (await askProgram(program, order)) as EngineLoad;
  const after = await program.usage();
  return {
    decisionsPerSecond: load.decisions / load.seconds,
    p50Ms: load.p50Ms,
    p99Ms: load.p99Ms,
    cpuMicroseconds: (after.cpuMicroseconds - before.cpuMicroseconds) / load.decisions,
    // Reading the size of every key takes as long as the load.
    bytesPerAccount: name === "petstore-redis" && !isWarmUp ? await bytesPerAccount(redis) : Number.NaN,
  };
}

/** An account has one key, whose size is its memory. */
async function bytesPerAccount(redis: RedisServer): Promise<number> {
  const keys = (await redis.command("KEYS", `${petstorePrefix}*`)) as string[];
  const bytes = await Promise.all(keys.map(async (key) => Number(await redis.command("MEMORY", "USAGE", key))));
  return bytes.reduce((sum, each) => sum + each, 0) / keys.length;
}
