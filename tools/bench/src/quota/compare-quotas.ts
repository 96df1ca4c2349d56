import { join } from "node:path";
import { type CompareDeps, type CompareOptions, type Comparison, usual } from "../comparison.js";
import { disposableList } from "../disposable-list.js";
import { openPrivateRedis } from "../private-redis.js";
import { inTurn, turnsOf } from "../turns.js";
import { openQuotaEngine, type QuotaContestant, type QuotaEngine } from "./quota-engine.js";
import { measureQuotaRound, type QuotaRound } from "./quota-round.js";

interface Entrant {
  readonly engine: QuotaEngine;
  /** By the number of callers. */
  readonly rounds: ReadonlyMap<number, QuotaRound[]>;
}

/** Lets the contestants decide in turns, on one Redis. Throws when one of them fails or refuses. */
export async function compareQuotas(
  contestants: readonly QuotaContestant[],
  accounts: number,
  options: CompareOptions,
  { progress, signal }: CompareDeps,
): Promise<Comparison> {
  progress("Starting Redis ...");
  await using redis = await openPrivateRedis();
  signal.throwIfAborted();

  await using engines = disposableList<QuotaEngine>();
  const entrants: Entrant[] = [];
  for (const contestant of contestants) {
    const engine = openQuotaEngine(contestant, { redisUrl: redis.url, accounts, signal });
    engines.items.push(engine);
    entrants.push({ engine, rounds: new Map(options.connections.map((callers) => [callers, []])) });
  }

  for (const { title, number, connections } of turnsOf(options)) {
    for (const { engine, rounds } of inTurn(entrants, number)) {
      const round = await measureQuotaRound(engine, redis, {
        connections,
        seconds: options.seconds,
        isWarmUp: number === 0,
      });
      progress(`${title}: ${engine.contestant.name}, ${round.decisionsPerSecond.toFixed(0)} decisions/s`);
      if (number > 0) rounds.get(connections)?.push(round);
    }
  }
  if (options.profileDirectory !== undefined) await profile(entrants, options, options.profileDirectory, progress);

  return options.connections.map((connections) => ({
    connections,
    rounds: new Map(entrants.map(({ engine, rounds }) => [engine.contestant.name, rounds.get(connections) ?? []])),
  }));
}

async function profile(
  entrants: readonly Entrant[],
  { connections: [connections = usual.connections], seconds }: CompareOptions,
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
