import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Benchmark, Contestant } from "./benchmark.js";
import type { CompareDeps, CompareOptions, Comparison } from "./comparison.js";
import { disposableList } from "./disposable-list.js";
import { judge } from "./goal.js";
import { type LoadGenerator, type LoadOrder, openLoadGenerator } from "./load-generator.js";
import { measureRound, type Round } from "./round.js";
import { openPrivateDatabase, openTemporaryDirectory, seed } from "./scene.js";
import { openServer, type Server } from "./server.js";

/** One contestant in place: its server and the load it gets. */
interface Entrant {
  readonly server: Server;
  readonly order: LoadOrder;
  readonly rounds: Round[];
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
  const apiKey = await seed(database.url);
  signal.throwIfAborted();

  await using servers = disposableList<Server>();
  const entrants: Entrant[] = [];
  for (const contestant of benchmark.contestants) {
    progress(`Starting ${contestant.name} ...`);
    const server = await openServer(contestant, { databaseUrl: database.url, directory: directory.path, signal });
    servers.items.push(server);
    entrants.push({ server, order: orderFor(contestant, server, apiKey, options), rounds: [] });
  }
  await checkAnswers(benchmark, entrants);

  await using generator = openLoadGenerator(signal);
  for (let number = 0; number <= options.rounds; number++) {
    const title = number === 0 ? "Warm-up" : `Round ${number} of ${options.rounds}`;
    for (const { server, order, rounds } of entrants) {
      const round = await measureRound(server, generator, order);
      progress(`${title}: ${server.name}, ${round.cpuMicroseconds.toFixed(1)} us of CPU per request`);
      if (number > 0) rounds.push(round);
    }
  }
  if (options.profileDirectory !== undefined) await profile(entrants, generator, options.profileDirectory, progress);

  const rounds = new Map(entrants.map(({ server, rounds }) => [server.name, rounds]));
  return { rounds, verdicts: benchmark.goals.map((goal) => judge(goal, rounds)) };
}

function orderFor(
  contestant: Contestant,
  { origin }: Server,
  apiKey: string,
  { connections, seconds }: CompareOptions,
): LoadOrder {
  return { origin, ...contestant.request(apiKey), connections, seconds };
}

/** Servers that do different work cannot be compared. */
async function checkAnswers({ isRight }: Benchmark, entrants: readonly Entrant[]): Promise<void> {
  let expected: unknown;
  for (const { server, order } of entrants) {
    const response = await fetch(order.origin + order.path, { headers: order.headers });
    const answer: unknown = await response.json();
    if (!response.ok || !isRight(answer)) throw new Error(`${server.name} does not do the work: ${response.status}`);
    expected ??= answer;
    if (!isDeepStrictEqual(answer, expected)) throw new Error(`${server.name} answers something else than the others`);
  }
}

async function profile(
  entrants: readonly Entrant[],
  generator: LoadGenerator,
  directory: string,
  progress: (line: string) => void,
): Promise<void> {
  for (const { server, order } of entrants) {
    await server.startProfile();
    await generator.run(order);
    const file = join(directory, `${server.name}.cpuprofile`);
    await server.writeProfile(file);
    progress(`Wrote ${file}`);
  }
}
