import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Benchmark } from "./benchmark.js";
import { type CompareDeps, type CompareOptions, type Comparison, usual } from "./comparison.js";
import { disposableList } from "./disposable-list.js";
import { type LoadGenerator, type LoadOrder, openLoadGenerator } from "./load-generator.js";
import { openPrivateRedis } from "./private-redis.js";
import { measureRound, type Round } from "./round.js";
import { openPrivateDatabase, openTemporaryDirectory, seed } from "./scene.js";
import { openServer, type Server } from "./server.js";
import { inTurn, turnsOf } from "./turns.js";
import { fillIn, type Work, withKey } from "./words.js";
import { loadWorkOf } from "./workload.js";

/** One contestant in place: its server and the load it gets. */
interface Entrant {
  readonly server: Server;
  /** One key is enough to check the responses. */
  readonly apiKey: string | undefined;
  readonly works: readonly Work[];
  readonly order: Omit<LoadOrder, "connections" | "seconds">;
  /** By the number of connections. */
  readonly rounds: ReadonlyMap<number, Round[]>;
}

/** Lets the contestants do the work in turns, on one database. Throws when one of them fails or answers otherwise. */
export async function compare(benchmark: Benchmark, options: CompareOptions, deps: CompareDeps): Promise<Comparison> {
  const { progress, signal } = deps;
  await using directory = await openTemporaryDirectory();
  progress("Starting PostgreSQL and adding 10,000 pets ...");
  await using database = await openPrivateDatabase(directory.path);
  const apiKeys = await seed(database.ownerUrl, deps);
  await using redis = benchmark.contestants.some(({ countsInRedis }) => countsInRedis)
    ? await openPrivateRedis()
    : undefined;
  signal.throwIfAborted();

  await using servers = disposableList<Server>();
  const entrants: Entrant[] = [];
  for (const contestant of benchmark.contestants) {
    progress(`Starting ${contestant.name} ...`);
    const server = await openServer(contestant, {
      databaseUrl: database.ownerUrl,
      redisUrl: contestant.countsInRedis ? redis?.url : undefined,
      directory: directory.path,
      signal,
    });
    servers.items.push(server);
    const workload = benchmark.workload(contestant.words);
    const keys = contestant.takesKey ? apiKeys.slice(0, workload.accounts) : [];
    entrants.push({
      server,
      apiKey: keys[0],
      works: workload.parts.flatMap(({ works }) => works),
      order: { origin: server.origin, ...loadWorkOf(workload, keys) },
      rounds: new Map(options.connections.map((connections) => [connections, []])),
    });
  }
  await checkAnswers(entrants);

  await using generator = openLoadGenerator(signal);
  for (const { title, number, connections } of turnsOf(options)) {
    for (const { server, order, rounds } of inTurn(entrants, number)) {
      const round = await measureRound(server, generator, { ...order, connections, seconds: options.seconds });
      progress(`${title}: ${server.name}, ${round.cpuMicroseconds.toFixed(1)} us of CPU per request`);
      if (number > 0) rounds.get(connections)?.push(round);
    }
  }
  if (options.profileDirectory !== undefined) {
    await profile(entrants, generator, options, options.profileDirectory, progress);
  }
  return options.connections.map((connections) => ({
    connections,
    rounds: new Map(entrants.map(({ server, rounds }) => [server.name, rounds.get(connections) ?? []])),
  }));
}

/** Servers that do different work cannot be compared. */
async function checkAnswers(entrants: readonly Entrant[]): Promise<void> {
  let expected: unknown;
  for (const { server, works, apiKey } of entrants) {
    const results: unknown[] = [];
    for (const work of works) results.push(await resultOf(server, work, apiKey));
    expected ??= results;
    if (!isDeepStrictEqual(results, expected)) throw new Error(`${server.name} answers something else than the others`);
  }
}

async function resultOf({ name, origin }: Server, work: Work, apiKey: string | undefined): Promise<unknown> {
  const request = fillIn(work.request, "to check the answers");
  const { path, method, headers, body } = apiKey === undefined ? request : withKey(request, apiKey);
  const response = await fetch(origin + path, { method, headers, ...(body !== undefined && { body }) });
  if (!response.ok) throw new Error(`${name} does not do the work: ${await response.text()}`);
  return work.resultOf(await response.json());
}

async function profile(
  entrants: readonly Entrant[],
  generator: LoadGenerator,
  { connections: [connections = usual.connections], seconds }: CompareOptions,
  directory: string,
  progress: (line: string) => void,
): Promise<void> {
  for (const { server, order } of entrants) {
    await server.startProfile();
    await generator.run({ ...order, connections, seconds });
    const file = join(directory, `${server.name}.cpuprofile`);
    await server.writeProfile(file);
    progress(`Wrote ${file}`);
  }
}
