import { isDeepStrictEqual } from "node:util";
import type { Benchmark, Defaults, Measured, Measures, Target } from "./benchmark.js";
import { makeLoad } from "./load/load.js";
import { withKey } from "./load/requests.js";
import { fillIn, type Workload, type WorkloadPart } from "./load/workload.js";
import { measureRounds, type Turn } from "./rounds.js";
import { type Server, type ServerOptions, withEnvironment } from "./servers/environment.js";
import type { ServerProgram } from "./servers/server-programs.js";
import type { Store, StoreOptions } from "./servers/store.js";

const measures: Measures = {
  requestsPerSecond: { label: "requests/s", digits: 0 },
  p50Ms: { label: "p50 ms", digits: 2 },
  p99Ms: { label: "p99 ms", digits: 2 },
  cpuMicroseconds: { label: "CPU us/request", digits: 1 },
  rssMebibytes: { label: "RSS MiB", digits: 0 },
};

export interface ServerComparison {
  readonly name: string;
  readonly summary: string;
  readonly cases: readonly ServerCase[];
  readonly defaults: Defaults;
  readonly targets: readonly Target[];
  /** True if all cases must have the same responses: servers that do different work cannot be compared. */
  readonly isSameWork?: boolean;
}

/** A server program in a process of its own, and the requests that it gets. */
export interface ServerCase extends Omit<ServerOptions, "name"> {
  readonly name: string;
  readonly program: ServerProgram;
  readonly parts: (store: Store) => readonly WorkloadPart[] | Promise<readonly WorkloadPart[]>;
  readonly store?: StoreOptions;
  /** How many accounts of the store send requests. Default: all. */
  readonly accounts?: number;
}

/** A running server, and the requests that it gets. */
export interface LoadedServer extends Workload, Pick<Server, "name" | "origin" | "program"> {}

export function compareServers({ cases, isSameWork = false, ...benchmark }: ServerComparison): Benchmark {
  return {
    ...benchmark,
    measures,
    run: (options, deps) =>
      withEnvironment(deps, async (environment) => {
        const servers: LoadedServer[] = [];
        for (const { program, parts, store: storeOptions, accounts, ...rest } of cases) {
          const store = await environment.openStore(storeOptions);
          const server = await environment.openServer(program, store, rest);
          const apiKeys = program.takesKey ? store.apiKeys.slice(0, accounts) : [];
          servers.push({ ...server, parts: await parts(store), apiKeys });
        }
        await checkResponses(servers, isSameWork);
        return await measureRounds(servers, options, deps, (server, turn) => measureServer(server, turn, deps.signal));
      }),
  };
}

async function measureServer(server: LoadedServer, turn: Turn, signal: AbortSignal): Promise<Measured> {
  const before = await server.program.usage();
  const load = await makeLoad({ ...server, connections: turn.connections, seconds: turn.seconds, signal });
  const after = await server.program.usage();
  return {
    requestsPerSecond: load.requestsPerSecond,
    p50Ms: load.p50Ms,
    p99Ms: load.p99Ms,
    cpuMicroseconds: (after.cpuMicroseconds - before.cpuMicroseconds) / load.requests,
    rssMebibytes: after.rssBytes / 2 ** 20,
  };
}

/** Sends every operation once to each server. Every response must be right. */
async function checkResponses(servers: readonly LoadedServer[], isSameWork: boolean): Promise<void> {
  let expected: unknown;
  for (const server of servers) {
    const results = await resultsOf(server);
    expected ??= results;
    if (isSameWork && !isDeepStrictEqual(results, expected)) {
      throw new Error(`${server.name} responds differently from ${servers[0]?.name}`);
    }
  }
}

async function resultsOf({ name, origin, parts, apiKeys: [apiKey] }: LoadedServer): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const { request, resultOf } of parts.flatMap(({ operations }) => operations)) {
    const filled = fillIn(request, "to compare");
    const { path, method, headers, body } = apiKey === undefined ? filled : withKey(filled, apiKey);
    const response = await fetch(origin + path, { method, headers, ...(body !== undefined && { body }) });
    if (!response.ok) throw new Error(`${name} fails: ${await response.text()}`);
    results.push(resultOf?.(await response.json()));
  }
  return results;
}
