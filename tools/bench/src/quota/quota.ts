import { openTogether, type Program, startProgram } from "@petstore/harness/processes";
import { openRedisServer } from "@petstore/harness/redis";
import { type Benchmark, type Measured, type Measures, usual } from "../benchmark.js";
import { measureRounds } from "../rounds.js";
import { builtFile } from "../servers/server-programs.js";

/** As many decisions as the time allows, for each account in turn. */
export interface EngineOrder {
  readonly callers: number;
  readonly seconds: number;
  readonly accounts: number;
}

const measures: Measures = {
  decisionsPerSecond: { label: "decisions/s", digits: 0 },
  p50Ms: { label: "p50 ms", digits: 3 },
  p99Ms: { label: "p99 ms", digits: 3 },
  cpuMicroseconds: { label: "CPU us/decision", digits: 2 },
};

interface EngineComparison extends Pick<Benchmark, "name" | "summary"> {
  readonly accounts: number;
  /** How many times as many decisions as rate-limiter-flexible. */
  readonly atLeast: number;
}

/** Decisions about a minute and a day, before all other work of a request. All requests are admitted. */
export function compareEngines({ name, summary, accounts, atLeast }: EngineComparison): Benchmark {
  const [ours, theirs] = ["petstore-redis", "rlf-union"] as const;
  return {
    name,
    summary,
    measures,
    targets: [{ connections: 64, measure: "decisionsPerSecond", of: ours, against: theirs, atLeast }],
    defaults: { ...usual, connections: [64] },
    async run(options, deps) {
      await using redis = await openRedisServer();
      await using ourEngine = await openEngine(ours, redis.url);
      await using theirEngine = await openEngine(theirs, redis.url);
      return await measureRounds([ourEngine, theirEngine], options, deps, async (engine, turn) => {
        const order: EngineOrder = { callers: turn.connections, seconds: turn.seconds, accounts };
        return (await engine.ask(order)) as Measured;
      });
    },
  };
}

async function openEngine(name: string, redisUrl: string): Promise<Program & { readonly name: string }> {
  return openTogether(async (use) => {
    const program = use(
      startProgram({
        name,
        args: [builtFile("quota/engine.js").pathname, name, redisUrl],
        environment: { NODE_ENV: "production" },
        hasChannel: true,
      }),
    );
    await program.printed(/ready/);
    return { ...program, name };
  });
}
