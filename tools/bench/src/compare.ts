import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Benchmark, Contestant, Work, WorkRequest } from "./benchmark.js";
import { type CompareDeps, type CompareOptions, type Comparison, usual } from "./comparison.js";
import { disposableList } from "./disposable-list.js";
import { type LoadGenerator, type LoadOrder, openLoadGenerator } from "./load-generator.js";
import { openPrivateRedis } from "./private-redis.js";
import { measureRound, type Round } from "./round.js";
import { openPrivateDatabase, openTemporaryDirectory, seed } from "./scene.js";
import { openServer, type Server } from "./server.js";
import { inTurn, turnsOf } from "./turns.js";

/** One contestant in place: its server and the load it gets. */
interface Entrant {
  readonly server: Server;
  readonly tasks: readonly [Task, ...Task[]];
  readonly order: Omit<LoadOrder, "connections" | "seconds">;
  /** By the number of connections. */
  readonly rounds: ReadonlyMap<number, Round[]>;
}

/** What one connection asks, or several that ask the same. */
interface Task {
  readonly work: Work;
  readonly request: WorkRequest;
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
    const tasks = tasksOf(contestant.work ?? benchmark.work, contestant, apiKeys);
    const [first, ...others] = tasks;
    const order = { origin: server.origin, ...first.request, others: others.map(({ request }) => request) };
    const rounds = new Map(options.connections.map((connections) => [connections, []]));
    entrants.push({ server, tasks, order, rounds });
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

/** Each for an account of its own: several reservations for one are made together. */
function tasksOf(work: Work, { takesKey }: Contestant, apiKeys: readonly string[]): [Task, ...Task[]] {
  const taskOf = (one: Work, place: number): Task => ({
    work: one,
    request: one.request(takesKey ? apiKeys[place] : undefined),
  });
  return [taskOf(work, 0), ...(work.others ?? []).map((one, place) => taskOf(one, 1 + place))];
}

/** Servers that do different work cannot be compared. */
async function checkAnswers(entrants: readonly Entrant[]): Promise<void> {
  let expected: unknown;
  for (const { server, tasks } of entrants) {
    const results: unknown[] = [];
    for (const task of tasks) results.push(await resultOf(server, task));
    expected ??= results;
    if (!isDeepStrictEqual(results, expected)) throw new Error(`${server.name} answers something else than the others`);
  }
}

async function resultOf({ name, origin }: Server, { work, request }: Task): Promise<unknown> {
  const { path, method, headers, body } = request;
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
