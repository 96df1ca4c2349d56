import type { Contestant } from "../benchmark.js";
import type { CompareDeps, CompareOptions, Comparison } from "../comparison.js";
import { openLoadGenerator } from "../load-generator.js";
import { openPrivateRedis } from "../private-redis.js";
import { openPrivateDatabase, openTemporaryDirectory, seed } from "../scene.js";
import { openServer } from "../server.js";
import { loadWorkOf, mixed } from "../workload.js";
import { type MemoryRound, measureMemoryRound } from "./memory-round.js";

const requests = 100_000;

/** Measures each in a process of its own for each round, one after the other. */
export async function compareMemory(
  contestants: readonly Contestant[],
  { rounds, seconds }: CompareOptions,
  deps: CompareDeps,
): Promise<Comparison> {
  const { progress, signal } = deps;
  await using directory = await openTemporaryDirectory();
  progress("Starting PostgreSQL and adding 10,000 pets ...");
  await using database = await openPrivateDatabase(directory.path);
  const apiKeys = await seed(database.ownerUrl, deps);
  await using redis = await openPrivateRedis();
  signal.throwIfAborted();
  await using generator = openLoadGenerator(signal);

  const measured = new Map<string, MemoryRound[]>(contestants.map(({ name }) => [name, []]));
  for (let number = 1; number <= rounds; number++) {
    for (const contestant of contestants) {
      const work = loadWorkOf(mixed(contestant.words), apiKeys);
      progress(`Starting ${contestant.name} ...`);
      await using server = await openServer(contestant, {
        databaseUrl: database.ownerUrl,
        redisUrl: redis.url,
        directory: directory.path,
        signal,
      });
      const round = await measureMemoryRound(server, generator, work, { seconds, requests });
      progress(`Round ${number} of ${rounds}: ${contestant.name}, ${round.at512Mebibytes.toFixed(0)} MiB at most`);
      measured.get(contestant.name)?.push(round);
    }
  }
  return [{ rounds: measured }];
}
