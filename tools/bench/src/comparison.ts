import { isDeepStrictEqual } from "node:util";
import { openTogether } from "@petstore/harness/processes";
import type { Benchmark, Measured, RunOptions, Target } from "./benchmark.js";
import { makeLoad } from "./load/load.js";
import { withKey } from "./load/requests.js";
import type { Workload } from "./load/workload.js";
import { measureRounds } from "./rounds.js";
import { type MeasuredServer, openEnvironment } from "./servers/environment.js";
import type { ServerProgram } from "./servers/server-programs.js";

interface ServerComparison {
  readonly name: string;
  readonly workload: Workload;
  readonly ours: ServerProgram;
  readonly peers: readonly ServerProgram[];
  readonly connections: readonly number[];
  /** For the ratios of our service to peers. None by default. */
  readonly targets?: readonly (Omit<Target, "of" | "against"> & { readonly against: ServerProgram })[];
}

/** The same workload for several servers, side by side in one run. */
export function compareServers(comparison: ServerComparison): Benchmark {
  const { name, workload, ours, peers, connections, targets = [] } = comparison;
  return {
    name,
    summary: workload.summary,
    targets: targets.map(({ against, ...target }) => ({ ...target, of: ours.name, against: against.name })),
    connections,
    async run(options) {
      await using environment = await openEnvironment();
      const rounds: Record<string, readonly Measured[]> = {};
      for (const share of sharesOf(options.rounds)) {
        await using started = await openTogether(async (use) => {
          const servers: MeasuredServer[] = [];
          for (const program of [ours, ...peers]) servers.push(use(await environment.openServer(program, workload)));
          return { servers };
        });
        await checkResponses(started.servers);
        // The same for all: at one connection, V8 would still compile functions while the rounds are measured.
        const warmUp = { ...options, connections: 32, seconds: 2 * options.seconds };
        const measured = await measureRounds(started.servers, share, (server, isWarmUp) =>
          measureServer(server, isWarmUp ? warmUp : options),
        );
        for (const [name, values] of Object.entries(measured)) rounds[name] = [...(rounds[name] ?? []), ...values];
      }
      return rounds;
    },
  };
}

/**
 * The rounds in thirds. Each third has new processes, because two starts of the same program differ by up to 12 %: V8
 * compiles and optimises its functions differently each time.
 */
function sharesOf(rounds: number): number[] {
  const shares = [0, 1, 2].map((third) => Math.floor((rounds + third) / 3));
  return shares.filter((share) => share > 0);
}

async function measureServer(server: MeasuredServer, { connections, seconds }: RunOptions): Promise<Measured> {
  const before = await server.usage();
  const { requests, ...speed } = await makeLoad({ ...server, connections, seconds });
  const after = await server.usage();
  return {
    ...speed,
    "CPU us/request": (after.cpuMicroseconds - before.cpuMicroseconds) / requests,
    "RSS MiB": after.rssBytes / 2 ** 20,
  };
}

/** Sends every different operation once to each server: servers that do different work cannot be compared. */
async function checkResponses(servers: readonly MeasuredServer[]): Promise<void> {
  let expected: unknown;
  for (const server of servers) {
    const results = await resultsOf(server);
    expected ??= results;
    if (!isDeepStrictEqual(results, expected)) {
      throw new Error(`${server.name} responds differently from ${servers[0]?.name}`);
    }
  }
}

async function resultsOf({ name, origin, operations, apiKeys }: MeasuredServer): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const operation of new Set(operations)) {
    const { path, pets: count, ...options } = withKey(operation("to compare"), apiKeys[0]);
    const response = await fetch(origin + path, options);
    const body = await response.text();
    const pets = response.ok ? petsIn(JSON.parse(body)) : [];
    if (pets.length !== count) throw new Error(`${name} answers without ${count} pets: ${body}`);
    results.push(pets);
  }
  return results;
}

/** The pets in a response, without the differences between servers: the ids, and capitals in the status. */
function petsIn(body: unknown): object[] {
  if (!(body instanceof Object)) return [];
  if (!("id" in body && "status" in body)) return Object.values(body).flatMap(petsIn);
  const { id: _, status, ...pet } = body;
  return [{ ...pet, status: `${status}`.toLowerCase() }];
}
