import { setTimeout as delay } from "node:timers/promises";
import type { Benchmark, Measured } from "./benchmark.js";
import { type LoadLimits, makeLoad } from "./load/load.js";
import { browse } from "./load/workload.js";
import { measureRounds } from "./rounds.js";
import { type MeasuredServer, openEnvironment } from "./servers/environment.js";
import { petstoreGraphql, petstoreRest, type ServerProgram } from "./servers/server-programs.js";

const programs = [petstoreRest, petstoreGraphql];
/** For work that a start or a load leaves, such as closing connections. */
const settleMs = 1_000;
const timeoutSeconds = 600;
const mebibyte = 2 ** 20;

/** The memory of a service, from its start to many connections and requests. The targets are absolute. */
export const memory: Benchmark = {
  name: "memory",
  summary: "RSS at start and under the browse workload at 32 and 512 connections, and what 100,000 requests add",
  targets: programs.flatMap(({ name: of }) => [
    { measure: "RSS MiB at start", of, atMost: 120 },
    { measure: "highest RSS MiB at 32 connections", of, atMost: 150 },
    { measure: "highest RSS MiB at 512 connections", of, atMost: 200 },
    // RSS of a process that keeps nothing varies by up to 5 MiB between readings.
    { measure: "RSS MiB grown by 100,000 requests", of, atMost: 10 },
    { measure: "live MiB grown by 100,000 requests", of, atMost: 1 },
  ]),
  rounds: 1,
  async run({ rounds, seconds }) {
    await using environment = await openEnvironment();
    const measure = async (program: ServerProgram) => {
      await using server = await environment.openServer(program, browse);
      return await measureMemory(server, seconds);
    };
    return await measureRounds(programs, rounds, measure, { warmUp: false });
  },
};

/** Loads a new server at 32 and 512 connections, and then with more requests that must not add to its memory. */
async function measureMemory(server: MeasuredServer, seconds: number): Promise<Measured> {
  await delay(settleMs);
  const start = await server.usage();
  const at32 = await highestRss(server, { connections: 32, seconds });
  await highestRss(server, { connections: 512, seconds });
  await delay(settleMs);
  await server.collectGarbage();
  const before = await server.usage();
  const at512 = await highestRss(server, { connections: 512, seconds: timeoutSeconds, requests: 100_000 });
  await delay(settleMs);
  await server.collectGarbage();
  const after = await server.usage();
  return {
    "RSS MiB at start": start.rssBytes / mebibyte,
    "highest RSS MiB at 32 connections": at32 / mebibyte,
    "highest RSS MiB at 512 connections": at512 / mebibyte,
    "RSS MiB grown by 100,000 requests": (after.rssBytes - before.rssBytes) / mebibyte,
    "live MiB grown by 100,000 requests": (after.heapBytes - before.heapBytes) / mebibyte,
  };
}

/** The highest RSS since the start of the server. */
async function highestRss(server: MeasuredServer, limits: LoadLimits): Promise<number> {
  const report = await makeLoad({ ...server, ...limits });
  const { requests = 0 } = limits;
  if (report.requests < requests) throw new Error(`${server.name} was too slow for ${requests} requests`);
  return (await server.usage()).peakRssBytes;
}
