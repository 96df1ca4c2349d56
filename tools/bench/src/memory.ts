import { setTimeout as delay } from "node:timers/promises";
import type { Benchmark, Measured, Measures } from "./benchmark.js";
import { type LoadLimits, makeLoad } from "./load/load.js";
import { mixed } from "./load/workload.js";
import { measureRounds } from "./rounds.js";
import { type MeasuredServer, withServers } from "./servers/environment.js";
import { petstoreGraphql, petstoreRest } from "./servers/server-programs.js";

const measures: Measures = {
  startMebibytes: { label: "RSS MiB at start", digits: 0 },
  at32Mebibytes: { label: "highest RSS MiB at 32 connections", digits: 0 },
  at512Mebibytes: { label: "highest RSS MiB at 512 connections", digits: 0 },
  grownMebibytes: { label: "RSS MiB grown by 100,000 requests", digits: 1 },
  liveGrownMebibytes: { label: "live MiB grown by 100,000 requests", digits: 2 },
};

const programs = [petstoreRest, petstoreGraphql];
/** For work that a start or a load leaves, such as closing connections. */
const settleMs = 1_000;
const timeoutSeconds = 600;
const mebibyte = 2 ** 20;

/** The memory of a service, from its start to many connections and requests. The targets are absolute. */
export const memory: Benchmark = {
  name: "memory",
  summary: "RSS at start and under the mixed workload at 32 and 512 connections, and what 100,000 requests add",
  measures,
  targets: programs.flatMap(({ name: of }) => [
    { measure: "startMebibytes", of, atMost: 110 },
    { measure: "at32Mebibytes", of, atMost: 150 },
    { measure: "at512Mebibytes", of, atMost: 200 },
    // RSS of a process that keeps nothing varies by up to 5 MiB between readings.
    { measure: "grownMebibytes", of, atMost: 10 },
    { measure: "liveGrownMebibytes", of, atMost: 1 },
  ]),
  defaults: { rounds: 1, seconds: 3, connections: [512] },
  isFixed: true,
  run: (options, deps) =>
    withServers(deps, (open) =>
      measureRounds(programs, { ...options, warmUp: false }, deps, async (program, { seconds, signal }) => {
        await using server = await open(program, mixed);
        return await measureMemory(server, { seconds, requests: 100_000, signal });
      }),
    ),
};

/** Loads a new server at 32 and 512 connections, and then with more requests that must not add to its memory. */
async function measureMemory(
  server: MeasuredServer,
  { seconds, requests, signal }: Required<Omit<LoadLimits, "connections">>,
): Promise<Measured> {
  await delay(settleMs);
  const start = await server.usage();
  const at32 = await highestRss(server, { connections: 32, seconds, signal });
  await highestRss(server, { connections: 512, seconds, signal });
  await delay(settleMs);
  const before = await server.usageAfterCollection();
  const at512 = await highestRss(server, { connections: 512, seconds: timeoutSeconds, requests, signal });
  await delay(settleMs);
  const after = await server.usageAfterCollection();
  return {
    startMebibytes: start.rssBytes / mebibyte,
    at32Mebibytes: at32 / mebibyte,
    at512Mebibytes: at512 / mebibyte,
    grownMebibytes: (after.rssBytes - before.rssBytes) / mebibyte,
    liveGrownMebibytes: (after.heapBytes - before.heapBytes) / mebibyte,
  };
}

/** The highest RSS since the start of the server. */
async function highestRss(server: MeasuredServer, limits: LoadLimits): Promise<number> {
  const report = await makeLoad({ ...server, ...limits });
  const { requests = 0 } = limits;
  if (report.requests < requests) throw new Error(`${server.name} was too slow for ${requests} requests`);
  return (await server.usage()).peakRssBytes;
}
