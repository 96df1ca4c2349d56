import { join } from "node:path";
import { openRedisServer, type RedisServer } from "@petstore/testing/redis";
import type { CompareDeps, CompareOptions, Comparison } from "../comparison.js";
import { disposableList } from "../disposable-list.js";
import { type Goal, judge } from "../goal.js";
import { openQuotaEngine, type QuotaContestant, type QuotaEngine } from "./quota-engine.js";
import { measureQuotaRound, type QuotaRound } from "./quota-round.js";

interface Entrant {
  readonly engine: QuotaEngine;
  readonly rounds: QuotaRound[];
}

/** Lets the contestants decide in turns, on one Redis. Throws when one of them fails or refuses. */
export async function compareQuotas(
  contestants: readonly QuotaContestant[],
  goals: readonly Goal[],
  options: CompareOptions,
  { progress, signal }: CompareDeps,
): Promise<Comparison> {
  progress("Starting Redis ...");
  await using redis = await openRedis();
  signal.throwIfAborted();

  await using engines = disposableList<QuotaEngine>();
  const entrants: Entrant[] = [];
  for (const contestant of contestants) {
    const engine = openQuotaEngine(contestant, redis.url, signal);
    engines.items.push(engine);
    entrants.push({ engine, rounds: [] });
  }

  for (let number = 0; number <= options.rounds; number++) {
    const title = number === 0 ? "Warm-up" : `Round ${number} of ${options.rounds}`;
    for (const { engine, rounds } of entrants) {
      const round = await measureQuotaRound(engine, redis, options);
      progress(`${title}: ${engine.contestant.name}, ${round.decisionsPerSecond.toFixed(0)} decisions/s`);
      if (number > 0) rounds.push(round);
    }
  }
  if (options.profileDirectory !== undefined) await profile(entrants, options, options.profileDirectory, progress);

  const rounds = new Map(entrants.map(({ engine, rounds }) => [engine.contestant.name, rounds]));
  return { rounds, verdicts: goals.map((goal) => judge(goal, rounds)) };
}

async function openRedis(): Promise<RedisServer> {
  try {
    return await openRedisServer();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    throw new Error("There is no redis-server in PATH, and this benchmark needs one.", { cause: error });
  }
}

async function profile(
  entrants: readonly Entrant[],
  { connections, seconds }: CompareOptions,
  directory: string,
  progress: (line: string) => void,
): Promise<void> {
  for (const { engine } of entrants) {
    await engine.startProfile();
    await engine.load(connections, seconds);
    const file = join(directory, `${engine.contestant.name}.cpuprofile`);
    await engine.writeProfile(file);
    progress(`Wrote ${file}`);
  }
}
