import type { LoadGenerator, LoadOrder } from "./load-generator.js";
import type { Server } from "./server.js";

/** What a round measures, with its heading and its digits after the point. */
export const measures = {
  requestsPerSecond: { label: "requests/s", digits: 0, better: "higher" },
  p50Ms: { label: "p50 ms", digits: 2, better: "lower" },
  p99Ms: { label: "p99 ms", digits: 2, better: "lower" },
  cpuMicroseconds: { label: "CPU us/request", digits: 1, better: "lower" },
  rssMebibytes: { label: "RSS MiB", digits: 0, better: "lower" },
} as const;

export type Measure = keyof typeof measures;

export type Round = Readonly<Record<Measure, number>>;

/** Loads one server and reads what it cost the server's process. Throws when any answer was not 2xx. */
export async function measureRound(server: Server, generator: LoadGenerator, order: LoadOrder): Promise<Round> {
  const before = await server.usage();
  const load = await generator.run(order);
  const after = await server.usage();
  if (load.failure !== undefined) throw new Error(`${server.name} did not answer every request: ${load.failure}`);
  return {
    requestsPerSecond: load.requestsPerSecond,
    p50Ms: load.p50Ms,
    p99Ms: load.p99Ms,
    cpuMicroseconds: (after.cpuMicroseconds - before.cpuMicroseconds) / load.requests,
    rssMebibytes: after.rssBytes / 2 ** 20,
  };
}
