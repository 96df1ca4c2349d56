import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Benchmark, Measured, Measures } from "./benchmark.js";
import { makeLoad } from "./load/load.js";
import { lists } from "./load/workload.js";
import { growthOf } from "./memory.js";
import { measureRounds, type Turn } from "./rounds.js";
import { type Environment, withEnvironment } from "./servers/environment.js";
import { petstoreGraphql, petstoreRest, type ServerProgram } from "./servers/server-programs.js";

const measures: Measures = {
  p99WithoutMs: { label: "p99 ms without them", digits: 2 },
  p99WithMs: { label: "p99 ms with them", digits: 2 },
  p99Ratio: { label: "p99 with / without", digits: 2 },
  lost: { label: "lost connections", digits: 0 },
  openKibibytes: { label: "RSS KiB of each", digits: 1 },
  keptKibibytes: { label: "live KiB kept of each, when closed", digits: 2 },
};

const programs = [petstoreRest, petstoreGraphql];
const activeConnections = 32;
/** At the same time: the backlog of a listening socket has 511 places. */
const openingAtOnce = 100;
const timeoutMs = 60_000;

/** Many connections that are open and silent. Each needs an open file in this process and in the service: see `ulimit -n`. */
export const idle: Benchmark = {
  name: "scalability-idle",
  summary: "10,000 idle connections: their memory, and the latency of 32 active connections",
  measures,
  targets: programs.flatMap(({ name: of }) => [
    { measure: "lost", of, atMost: 0 },
    { measure: "p99Ratio", of, atMost: 2 },
    { measure: "keptKibibytes", of, atMost: 2 },
  ]),
  defaults: { rounds: 3, seconds: 5, connections: [10_000] },
  run: (options, deps) =>
    withEnvironment(deps, (environment) =>
      measureRounds(programs, { ...options, warmUp: false }, deps, (program, turn) =>
        measureIdle(environment, program, turn, deps.signal),
      ),
    ),
};

async function measureIdle(
  environment: Environment,
  program: ServerProgram,
  { connections, seconds }: Turn,
  signal: AbortSignal,
): Promise<Measured> {
  const store = await environment.openStore();
  // All connections come from one address.
  const unlimited = { environment: { MAX_CONNECTIONS_PER_ADDRESS: "0" } };
  await using server = await environment.openServer(program, store, unlimited);
  const loaded = { ...server, parts: lists(program.requests), apiKeys: store.apiKeys };
  const load = () => makeLoad({ ...loaded, connections: activeConnections, seconds, signal });
  await load();
  const without = await load();
  let open = 0;
  let openBytes = 0;
  let withIdle = without;
  const kept = await growthOf(loaded, async () => {
    const before = await server.program.usage();
    const sockets = await openIdle(server.origin, connections);
    openBytes = (await server.program.usage()).rssBytes - before.rssBytes;
    withIdle = await load();
    open = sockets.filter(({ readyState }) => readyState === "open").length;
    await Promise.all(sockets.map(close));
    await load();
  });
  return {
    p99WithoutMs: without.p99Ms,
    p99WithMs: withIdle.p99Ms,
    p99Ratio: withIdle.p99Ms / without.p99Ms,
    lost: connections - open,
    openKibibytes: openBytes / connections / 1_024,
    keptKibibytes: kept.liveBytes / connections / 1_024,
  };
}

/** Each connection has one response first: a service closes connections that never send a request. */
async function openIdle(origin: string, count: number): Promise<Socket[]> {
  const { hostname: host, port } = new URL(origin);
  const sockets: Socket[] = [];
  const openOn = async () => {
    while (sockets.length < count) {
      const socket = connect({ host, port: Number(port) });
      sockets.push(socket);
      socket.write(`GET /livez HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      const [chunk] = await once(socket, "data", { signal: AbortSignal.timeout(timeoutMs) });
      if (!`${chunk}`.startsWith("HTTP/1.1 200 ")) throw new Error(`an idle connection had the response ${chunk}`);
      // A broken connection is counted as lost.
      socket.on("error", () => {}).resume();
    }
  };
  await Promise.all(Array.from({ length: openingAtOnce }, openOn));
  return sockets;
}

async function close(socket: Socket): Promise<void> {
  if (socket.closed) return;
  socket.end();
  await once(socket, "close");
}
