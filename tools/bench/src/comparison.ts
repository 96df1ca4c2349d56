import { isDeepStrictEqual } from "node:util";
import { type Benchmark, type Measured, type Measures, type Target, usual } from "./benchmark.js";
import { makeLoad } from "./load/load.js";
import { withKey } from "./load/requests.js";
import type { Workload } from "./load/workload.js";
import { measureRounds, type Turn } from "./rounds.js";
import { type MeasuredServer, withServers } from "./servers/environment.js";
import type { ServerProgram } from "./servers/server-programs.js";

const measures: Measures = {
  requestsPerSecond: { label: "requests/s", digits: 0 },
  p50Ms: { label: "p50 ms", digits: 2 },
  p99Ms: { label: "p99 ms", digits: 2 },
  cpuMicroseconds: { label: "CPU us/request", digits: 1 },
  rssMebibytes: { label: "RSS MiB", digits: 0 },
};

interface ServerComparison {
  readonly name: string;
  readonly workload: Workload;
  readonly ours: ServerProgram;
  readonly peers: readonly ServerProgram[];
  readonly connections: readonly number[];
  readonly targets: readonly RatioTarget[];
}

/** A target for the ratio of our service to a peer. */
interface RatioTarget extends Omit<Target, "of" | "against"> {
  readonly measure: "cpuMicroseconds" | "p50Ms" | "p99Ms";
  readonly against: ServerProgram;
}

/** The same workload for several servers, side by side in one run. */
export function compareServers(comparison: ServerComparison): Benchmark {
  const { name, workload, ours, peers, connections, targets } = comparison;
  return {
    name,
    summary: workload.summary,
    measures,
    targets: targets.map(({ against, ...target }) => ({ ...target, of: ours.name, against: against.name })),
    defaults: { ...usual, connections },
    run: (options, deps) =>
      withServers(deps, async (open) => {
        const servers: MeasuredServer[] = [];
        for (const program of [ours, ...peers]) servers.push(await open(program, workload));
        await checkResponses(servers);
        return await measureRounds(servers, options, deps, measureServer);
      }),
  };
}

async function measureServer(server: MeasuredServer, turn: Turn): Promise<Measured> {
  const before = await server.usage();
  const load = await makeLoad({ ...server, ...turn });
  const after = await server.usage();
  return {
    requestsPerSecond: load.requestsPerSecond,
    p50Ms: load.p50Ms,
    p99Ms: load.p99Ms,
    cpuMicroseconds: (after.cpuMicroseconds - before.cpuMicroseconds) / load.requests,
    rssMebibytes: after.rssBytes / 2 ** 20,
  };
}

/** Sends every different operation once to each server: servers that do different work cannot be compared. */
async function checkResponses(servers: readonly MeasuredServer[]): Promise<void> {
  const operations = servers[0]?.operations ?? [];
  // The operations of all servers have the same order. A peer may use one operation for two of ours.
  const places = new Set(operations.map((operation) => operations.indexOf(operation)));
  let expected: unknown;
  for (const server of servers) {
    const results = await resultsOf(server, places);
    expected ??= results;
    if (!isDeepStrictEqual(results, expected)) {
      throw new Error(`${server.name} responds differently from ${servers[0]?.name}`);
    }
  }
}

async function resultsOf(server: MeasuredServer, places: ReadonlySet<number>): Promise<unknown[]> {
  const { name, origin, operations, apiKeys } = server;
  const results: unknown[] = [];
  for (const { request, resultOf } of operations.filter((_, place) => places.has(place))) {
    const { path, ...options } = withKey(request("to compare"), apiKeys[0]);
    const response = await fetch(origin + path, options);
    if (!response.ok) throw new Error(`${name} fails: ${await response.text()}`);
    results.push(resultOf(await response.json()));
  }
  return results;
}
