import { type Benchmark, type Measured, type Measures, usual } from "../benchmark.js";
import { measureRounds, type Turn } from "../rounds.js";
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
};

const engines = ["petstore-redis", "rlf-union"];

/** A decision about a minute and a day, before all other work of a request. All requests are admitted. */
export const quota: Benchmark = quotaBenchmark(
  "quota",
  "decide about a minute and a day, for 10,000 accounts",
  10_000,
  1.3,
);

export const hotAccountQuota: Benchmark = quotaBenchmark("quota-hot-account", "the same for one account", 1, 1.6);

interface Engine {
  readonly name: string;
  readonly program: ProbedProgram;
}

function quotaBenchmark(name: string, summary: string, accounts: number, atLeast: number): Benchmark {
  return {
    name,
    summary,
    measures,
    targets: [{ measure: "decisionsPerSecond", of: "petstore-redis", against: "rlf-union", atLeast }],
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
      return await measureRounds(running, options, deps, (engine, turn) => measureEngine(engine, accounts, turn));
    },
  };
}

async function measureEngine({ program }: Engine, accounts: number, turn: Turn): Promise<Measured> {
  const { connections: callers, seconds } = turn;
  const order: EngineOrder = { kind: "load", callers, seconds, accounts };
  const before = await program.usage();
  const load = (await askProgram(program, order)) as EngineLoad;
  const after = await program.usage();
  return {
    decisionsPerSecond: load.decisions / load.seconds,
    p50Ms: load.p50Ms,
    p99Ms: load.p99Ms,
    cpuMicroseconds: (after.cpuMicroseconds - before.cpuMicroseconds) / load.decisions,
  };
}
