import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Benchmark, Work, WorkRequest } from "./benchmark.js";
import { type CompareDeps, type CompareOptions, type Comparison, usual } from "./comparison.js";
import { disposableList } from "./disposable-list.js";
import { type LoadGenerator, openLoadGenerator } from "./load-generator.js";
import { openPrivateRedis } from "./private-redis.js";
import { measureRound, type Round } from "./round.js";
import { openPrivateDatabase, openTemporaryDirectory, seed } from "./scene.js";
import { openServer, type Server } from "./server.js";
import { turnsOf } from "./turns.js";

/** One contestant in place: its server and the load it gets. */
interface Entrant {
  readonly server: Server;
  readonly work: Work;
  readonly request: WorkRequest;
  /** By the number of connections. */
  readonly rounds: ReadonlyMap<number, Round[]>;
}

/** Lets the contestants do the work in turns, on one database. Throws when one of them fails or answers otherwise. */
export async function compare(
  benchmark: Benchmark,
  options: CompareOptions,
  { progress, signal }: CompareDeps,
): Promise<Comparison> {
  await using directory = await openTemporaryDirectory();
  progress("Starting PostgreSQL and adding 10,000 animals ...");
  await using database = await openPrivateDatabase(directory.path);
  const apiKey = await seed(database.url, signal);
  await using redis = benchmark.contestants.some(({ countsInRedis }) => countsInRedis)
    ? await openPrivateRedis()
    : undefined;
  signal.throwIfAborted();

  await using servers = disposableList<Server>();
  const entrants: Entrant[] = [];
  for (const contestant of benchmark.contestants) {
    progress(`Starting ${contestant.name} ...`);
    const server = await openServer(contestant, {
      databaseUrl: database.url,
      redisUrl: contestant.countsInRedis ? redis?.url : undefined,
      directory: directory.path,
      signal,
    });
    servers.items.push(server);
    const work = contestant.work ?? benchmark.work;
    const request = work.request(contestant.takesKey ? apiKey : undefined);
    const rounds = new Map(options.connections.map((connections) => [connections, []]));
    entrants.push({ server, work, request, rounds });
  }
  await checkAnswers(entrants);

  await using generator = openLoadGenerator(signal);
  for (const { title, number, connections } of turnsOf(options)) {
    for (const { server, request, rounds } of entrants) {
      const order = { origin: server.origin, ...request, connections, seconds: options.seconds };
      const round = await measureRound(server, generator, order);
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
  for (const { server, work, request } of entrants) {
    const { path, method, headers, body } = request;
    const response = await fetch(server.origin + path, { method, headers, ...(body !== undefined && { body }) });
    if (!response.ok) throw new Error(`${server.name} does not do the work: ${await response.text()}`);
    const result = work.resultOf(await response.json());
    expected ??= result;
    if (!isDeepStrictEqual(result, expected)) throw new Error(`${server.name} answers something else than the others`);
  }
}

async function profile(
  entrants: readonly Entrant[],
  generator: LoadGenerator,
  { connections: [connections = usual.connections], seconds }: CompareOptions,
  directory: string,
  progress: (line: string) => void,
): Promise<void> {
  for (const { server, request } of entrants) {
    await server.startProfile();
    await generator.run({ origin: server.origin, ...request, connections, seconds });
    const file = join(directory, `${server.name}.cpuprofile`);
    await server.writeProfile(file);
    progress(`Wrote ${file}`);
  }
}
