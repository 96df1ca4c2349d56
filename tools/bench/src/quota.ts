import { createRedisQuota, openRedis } from "@petstore/core";
import { percentile } from "@petstore/harness/figures";
import { openRedisServer } from "@petstore/harness/redis";
import { RateLimiterRedis, RateLimiterUnion } from "rate-limiter-flexible";
import type { Benchmark, Measured, RunOptions } from "./benchmark.js";
import { measureRounds } from "./rounds.js";

interface EngineComparison extends Pick<Benchmark, "name" | "summary"> {
  readonly accounts: number;
  /** How many times as many decisions as rate-limiter-flexible. */
  readonly atLeast: number;
}

/** Spends one unit of an account. Rejects when the unit is not admitted. */
type Decide = (account: string) => Promise<unknown>;

/** No load uses up this limit: the benchmark measures admitted requests. */
const limit = 2_147_483_647;

/** Decisions about a minute and a day, before all other work of a request, in this process. */
export function compareEngines({ name, summary, accounts, atLeast }: EngineComparison): Benchmark {
  const [ours, theirs] = ["petstore-redis", "rlf-union"] as const;
  return {
    name,
    summary,
    targets: [{ connections: 64, measure: "decisions/s", of: ours, against: theirs, atLeast }],
    connections: [64],
    async run(options) {
      await using server = await openRedisServer();
      // Both engines decide on the connection that our services open.
      using connection = await openRedis({ urls: [server.url], isCluster: false, decisionTimeoutMs: 100 });
      const { redis } = connection;
      const quota = createRedisQuota({ redis });
      // Joined as the guide of rate-limiter-flexible joins two windows.
      const union = new RateLimiterUnion(
        new RateLimiterRedis({ storeClient: redis, keyPrefix: "rlf:minute", points: limit, duration: 60 }),
        new RateLimiterRedis({ storeClient: redis, keyPrefix: "rlf:day", points: limit, duration: 86_400 }),
      );
      const engines: { readonly name: string; readonly decide: Decide }[] = [
        {
          name: ours,
          async decide(account) {
            const limits = { perMinute: limit, perDay: limit };
            const { outcome } = await quota.reserve({ account, key: account, limits, cost: 1 });
            if (outcome !== "admitted") throw new Error(outcome);
          },
        },
        { name: theirs, decide: (account) => union.consume(account) },
      ];
      return await measureRounds(engines, options.rounds, ({ decide }) => measure(decide, accounts, options));
    },
  };
}

/** Every caller decides for the next account as soon as it has its last decision. */
async function measure(decide: Decide, accounts: number, { connections, seconds }: RunOptions): Promise<Measured> {
  const latenciesMs: number[] = [];
  const cpuAtStart = process.cpuUsage();
  const startedAtMs = performance.now();
  const endAtMs = startedAtMs + seconds * 1_000;
  let turn = 0;

  async function callOn(): Promise<void> {
    for (let startMs = startedAtMs; startMs < endAtMs; startMs = performance.now()) {
      turn = (turn + 1) % accounts;
      await decide(`${1 + turn}`);
      latenciesMs.push(performance.now() - startMs);
    }
  }

  await Promise.all(Array.from({ length: connections }, callOn));
  const elapsedSeconds = (performance.now() - startedAtMs) / 1_000;
  const { user, system } = process.cpuUsage(cpuAtStart);
  return {
    "decisions/s": latenciesMs.length / elapsedSeconds,
    "p50 ms": percentile(latenciesMs, 50),
    "p99 ms": percentile(latenciesMs, 99),
    "CPU us/decision": (user + system) / latenciesMs.length,
  };
}
