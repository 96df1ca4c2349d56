import { setTimeout as delay } from "node:timers/promises";
import { disposableList } from "../disposable-list.js";
import { addPets } from "../pets.js";
import { addAccount, openMigratedCore } from "../scene.js";
import type { Server } from "../server.js";
import { type Api, apis } from "./apis.js";
import type { Outcome } from "./outcome.js";
import type { GrowthOptions, Part, PartDeps, PartResult } from "./part.js";
import { type Sample, slopeOf } from "./slope.js";
import { onStage, type Stage } from "./stage.js";
import {
  openTrafficGenerator,
  type TrafficGenerator,
  type TrafficOrder,
  type TrafficReport,
} from "./traffic-generator.js";
import { trafficOf } from "./traffic-steps.js";

export const soak: Part = {
  name: "soak",
  summary: "what a service holds does not grow with what it has served",
  run: (options, deps) => onStage(deps, (stage) => soakBoth(stage, options, deps)),
};

/** What a service held at a moment, after a full garbage collection under load. */
interface HeapSample {
  readonly seconds: number;
  readonly liveBytes: number;
  readonly rssBytes: number;
}

/** A service in place, and who asks it. */
interface LoadedApi {
  readonly api: Api;
  readonly server: Server;
  readonly traffic: TrafficGenerator;
  readonly order: TrafficTo;
  readonly filling: TrafficReport;
}

type TrafficTo = Pick<TrafficOrder, "origin" | "connections" | "steps">;

interface Soaked {
  readonly api: Api;
  readonly filling: TrafficReport;
  readonly report: TrafficReport;
  readonly samples: readonly HeapSample[];
}

/** About 45 in the three quarters that count; more in a long run, for no two are further apart than this. */
const sampleCount = 60;
const longestGapMs = 5_000;
/** More than a service remembers of unknown keys, or of documents so short. */
const rememberedAtMost = 12_000;
/** Numbers from here on have not been used in filling. */
const secondNumber = 1_000_000;
/** What must be seen if a request leaves it behind. */
const smallestLeakBytes = 100;

async function soakBoth(stage: Stage, options: GrowthOptions, deps: PartDeps): Promise<PartResult> {
  const { databaseUrl } = stage;
  const { soakSeconds, connections } = options;
  await using core = await openMigratedCore(databaseUrl);
  const apiKey = await addAccount(core, "growth");
  const spentKey = await addAccount(core, "spent", 1);
  await addPets(databaseUrl, 10_000, () => "case when number % 2 = 0 then 'sold' else 'available' end", deps);
  const { cursorOf } = await core.catalogue.listAsConnection({ first: 1, status: "available" });
  const keys = { apiKey, spentKey, cursor: cursorOf(await core.catalogue.get("5001")) };

  const each = Math.max(1, Math.floor(connections / apis.length));
  deps.progress(`${soakSeconds} s, ${each} connections at each API, after filling what they remember ...`);
  await using generators = disposableList<TrafficGenerator>();
  const loaded = await Promise.all(
    apis.map(async (api): Promise<LoadedApi> => {
      const server = await stage.openService(api, api.name, { databaseUrl, ...disturbed(options) });
      const traffic = openTrafficGenerator(deps.signal);
      generators.items.push(traffic);
      const order = { origin: server.origin, connections: each, steps: trafficOf(api, keys) };
      return { api, server, traffic, order, filling: await fill(traffic, order, soakSeconds) };
    }),
  );
  const soaked = await Promise.all(loaded.map((one) => soakOne(one, soakSeconds, deps.progress)));
  const heading = ["api", "requests", "requests/s", "heap MiB, first", "last", "RSS MiB, first", "last", "samples"];
  return {
    rows: [heading, ...soaked.map((one) => soakRow(one, soakSeconds))],
    notes: [
      "The slope is a least-squares line through the live heap of the last three quarters, each sample after a full\n" +
        "garbage collection; its noise is three standard errors, widened where neighbouring samples resemble each other.",
    ],
    outcomes: soaked.flatMap((one) => judgeSoak(one, soakSeconds)),
    details: soaked.map(({ api, ...one }) => ({ api: api.name, ...one })),
  };
}

async function soakOne(
  { api, server, traffic, order, filling }: LoadedApi,
  soakSeconds: number,
  progress: (line: string) => void,
): Promise<Soaked> {
  const over = new AbortController();
  const [report, samples] = await Promise.all([
    traffic.run({ ...order, seconds: soakSeconds, firstNumber: secondNumber }).finally(() => over.abort()),
    sampleHeap(server, soakSeconds, over.signal, (line) => progress(`${api.name}: ${line}`)),
  ]);
  return { api, filling, report, samples };
}

/** Fills what a service remembers up to a limit, unknown keys and documents, so that none of it grows any more. */
async function fill(traffic: TrafficGenerator, order: TrafficTo, soakSeconds: number): Promise<TrafficReport> {
  const steps = order.steps.filter(({ isRemembered }) => isRemembered);
  // A service that has not seen a valid key yet answers 503 to it while its address sends unknown ones.
  const known = order.steps.filter(({ unknownKey }) => !unknownKey);
  await traffic.run({ ...order, steps: known, requests: known.length, seconds: soakSeconds, firstNumber: 500_000 });
  const requests = steps.length * rememberedAtMost;
  return traffic.run({ ...order, steps, requests, seconds: soakSeconds / 4, firstNumber: 0 });
}

/**
 * Without the limits of addresses, which would refuse invented keys, and without shedding and short timeouts: collecting
 * the garbage of a planted leak can stop the process for a second.
 */
const environment = {
  ANONYMOUS_REQUESTS_PER_MINUTE: "1000000000",
  ANONYMOUS_REQUESTS_PER_DAY: "1000000000",
  SHED_EVENT_LOOP_DELAY_MS: "0",
  DATABASE_ACQUIRE_TIMEOUT_MS: "15000",
  DATABASE_READ_TIMEOUT_MS: "15000",
  DATABASE_WRITE_TIMEOUT_MS: "15000",
};

function disturbed({ leakBytes }: GrowthOptions) {
  if (leakBytes === 0) return { environment };
  return {
    environment: { ...environment, LEAK_BYTES: `${leakBytes}` },
    preload: new URL("./leak/main.js", import.meta.url),
  };
}

async function sampleHeap(
  server: Server,
  soakSeconds: number,
  over: AbortSignal,
  progress: (line: string) => void,
): Promise<HeapSample[]> {
  const gapMs = Math.min(longestGapMs, (soakSeconds * 1_000) / sampleCount);
  const startMs = performance.now();
  const samples: HeapSample[] = [];
  while (await passes(gapMs, over)) {
    const sample = { seconds: (performance.now() - startMs) / 1_000, ...(await server.retained()) };
    samples.push(sample);
    if (samples.length % 6 === 0) progress(`${sample.seconds.toFixed(0)} s, ${mebibytes(sample.liveBytes)} MiB live`);
  }
  return samples;
}

/** False when it was ended before. */
async function passes(milliseconds: number, over: AbortSignal): Promise<boolean> {
  return delay(milliseconds, true, { signal: over }).catch(() => false);
}

function judgeSoak({ api, filling, report, samples }: Soaked, soakSeconds: number): Outcome[] {
  const counted = samples.filter(({ seconds }) => seconds >= soakSeconds / 4);
  const line = slopeOf(counted.map(({ seconds, liveBytes }): Sample => ({ x: seconds, y: liveBytes })));
  const requestsPerSecond = report.requests / soakSeconds;
  const kibibytes = (factor: number) =>
    `${((line.slope * factor) / 1_024).toFixed(1)} +- ${((line.noise * factor) / 1_024).toFixed(1)} KiB`;
  const noisePerRequest = line.noise / requestsPerSecond;
  const unexpected = [filling, report].flatMap((traffic) => Object.entries(traffic.unexpected));
  return [
    {
      what: `${api.name}, slope of the live heap`,
      measured: `${kibibytes(60)} a minute, ${kibibytes(100_000 / requestsPerSecond)} per 100,000 requests`,
      goal: "not above 0 by more than its noise",
      met: line.slope <= line.noise,
    },
    {
      what: `${api.name}, smallest leak that would have been seen`,
      measured: `${(2 * noisePerRequest).toFixed(1)} bytes a request`,
      goal: `at most ${smallestLeakBytes}`,
      met: 2 * noisePerRequest <= smallestLeakBytes,
    },
    {
      what: `${api.name}, unexpected answers`,
      measured: unexpected.length === 0 ? "none" : unexpected.map(([what, count]) => `${what} (${count})`).join(", "),
      goal: "none",
      met: unexpected.length === 0,
    },
  ];
}

function soakRow({ api, report, samples }: Soaked, soakSeconds: number): string[] {
  const [first, last] = [samples[0], samples.at(-1)];
  return [
    api.name,
    report.requests.toLocaleString("en"),
    (report.requests / soakSeconds).toFixed(0),
    ...[first?.liveBytes, last?.liveBytes, first?.rssBytes, last?.rssBytes].map(mebibytes),
    `${samples.length}`,
  ];
}

function mebibytes(bytes = Number.NaN): string {
  return (bytes / 2 ** 20).toFixed(1);
}
