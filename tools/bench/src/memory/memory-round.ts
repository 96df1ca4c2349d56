import { setTimeout as delay } from "node:timers/promises";
import type { LoadGenerator, LoadOrder, LoadWork } from "../load-generator.js";
import type { Server } from "../server.js";

/** What one life of a server measures, with its heading and its digits after the point. */
export const memoryMeasures = {
  startMebibytes: { label: "RSS MiB at start", digits: 0, better: "lower" },
  at32Mebibytes: { label: "highest RSS MiB at 32 connections", digits: 0, better: "lower" },
  at512Mebibytes: { label: "highest RSS MiB at 512 connections", digits: 0, better: "lower" },
  grownMebibytes: { label: "RSS MiB grown by 100,000 requests", digits: 1, better: "lower" },
  liveGrownMebibytes: { label: "live MiB grown by 100,000 requests", digits: 2, better: "lower" },
} as const;

export type MemoryMeasure = keyof typeof memoryMeasures;

export type MemoryRound = Readonly<Record<MemoryMeasure, number>>;

export interface MemoryRoundOptions {
  /** How long it is loaded at each number of connections. */
  readonly seconds: number;
  /** How many more it must answer without growing. */
  readonly requests: number;
}

const sampleMs = 100;
/** For what a start or a load leaves to be done, such as closing connections. */
const settleMs = 1_000;
const timeoutSeconds = 600;

/** Loads a server that has just been started, more and more. Throws when any answer was not 2xx. */
export async function measureMemoryRound(
  server: Server,
  generator: LoadGenerator,
  work: LoadWork,
  { seconds, requests }: MemoryRoundOptions,
): Promise<MemoryRound> {
  const load = (order: Pick<LoadOrder, "connections" | "seconds" | "requests">) =>
    highestRss(server, generator, { origin: server.origin, ...work, ...order });

  await delay(settleMs);
  const start = (await server.usage()).rssBytes;
  const at32 = await load({ connections: 32, seconds });
  const at512 = await load({ connections: 512, seconds });
  await delay(settleMs);
  const before = await server.retained();
  const after100000 = await load({ connections: 512, seconds: timeoutSeconds, requests });
  await delay(settleMs);
  const after = await server.retained();
  return {
    startMebibytes: mebibytes(start),
    at32Mebibytes: mebibytes(at32),
    at512Mebibytes: mebibytes(Math.max(at512, after100000)),
    grownMebibytes: mebibytes(after.rssBytes - before.rssBytes),
    liveGrownMebibytes: mebibytes(after.liveBytes - before.liveBytes),
  };
}

async function highestRss(server: Server, generator: LoadGenerator, order: LoadOrder): Promise<number> {
  let highest = 0;
  let isLoaded = true;
  const sample = async () => {
    while (isLoaded) {
      highest = Math.max(highest, (await server.usage()).rssBytes);
      await delay(sampleMs);
    }
    highest = Math.max(highest, (await server.usage()).rssBytes);
  };
  const loaded = generator.run(order).finally(() => {
    isLoaded = false;
  });
  const [{ requests, failure }] = await Promise.all([loaded, sample()]);
  if (failure !== undefined) throw new Error(`${server.name} did not answer every request: ${failure}`);
  if (order.requests !== undefined && requests < order.requests) {
    throw new Error(`${server.name} answered only ${requests} of ${order.requests} requests in ${order.seconds} s`);
  }
  return highest;
}

function mebibytes(bytes: number): number {
  return bytes / 2 ** 20;
}
