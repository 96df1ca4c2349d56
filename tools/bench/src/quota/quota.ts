import { type Program, startProgram } from "@petstore/harness/processes";
import { openRedisServer } from "@petstore/harness/redis";
import type { Benchmark, Measured } from "../benchmark.js";
import { measureRounds } from "../rounds.js";
import { builtFile } from "../servers/server-programs.js";

/** As many decisions as the time allows, for each account in turn. */
export interface EngineOrder {
  readonly callers: number;
  readonly seconds: number;
  readonly accounts: number;
}

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
    targets: [{ connections: 64, measure: "decisions/s", of: ours, against: theirs, atLeast }],
    connections: [64],
    async run({ rounds, seconds, connections }) {
      await using redis = await openRedisServer();
      await using ourEngine = startEngine(ours, redis.url);
      await using theirEngine = startEngine(theirs, redis.url);
      const order: EngineOrder = { callers: connections, seconds, accounts };
      return await measureRounds([ourEngine, theirEngine], rounds, async (engine) => {
        return (await engine.ask(order)) as Measured;
      });
    },
  };
}

function startEngine(name: string, redisUrl: string): Program & { readonly name: string } {
  const program = startProgram({
    name,
    args: [builtFile("quota/engine.js").pathname, name, redisUrl],
    environment: { NODE_ENV: "production" },
    hasChannel: true,
  });
  return { ...program, name };
}
