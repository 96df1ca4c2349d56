import type { LoadReport } from "../load-generator.js";
import { addPets } from "../pets.js";
import type { Retained } from "../probe.js";
import { addAccount, openMigratedCore } from "../scene.js";
import { spread } from "../statistics.js";
import { type Api, apis, drawnFrom } from "./apis.js";
import { type CrowdState, openCrowd } from "./crowd.js";
import { checkOpenFiles } from "./open-files.js";
import { exactly, type Outcome } from "./outcome.js";
import type { GrowthOptions, Part, PartDeps, PartResult } from "./part.js";
import { onStage, type Stage } from "./stage.js";

export const idle: Part = {
  name: "idle",
  summary: "10,000 idle connections cost memory, and the other callers little",
  run: (options, deps) => onStage(deps, (stage) => holdAtBoth(stage, options, deps)),
};

/** Of some 13 while it is open. What the heap gains for other reasons counts too, so few connections cannot meet it. */
const mostKeptKibibytes = 2;

interface Held {
  readonly api: Api;
  /** Rounds of normal traffic: before and behind the idle connections, and while they are there. */
  readonly without: readonly LoadReport[];
  readonly meanwhile: readonly LoadReport[];
  readonly heap: { readonly before: Retained; readonly opened: Retained; readonly closed: Retained };
  readonly crowd: { readonly opened: CrowdState; readonly atEnd: CrowdState };
}

async function holdAtBoth(stage: Stage, options: GrowthOptions, deps: PartDeps): Promise<PartResult> {
  checkOpenFiles(options.idleConnections);
  await using core = await openMigratedCore(stage.databaseUrl);
  const apiKey = await addAccount(core, "growth");
  await addPets(stage.databaseUrl, 10_000, () => "'available'", deps);
  const held: Held[] = [];
  for (const api of apis) held.push(await hold(api, apiKey, stage, options, deps));

  const latencies = ["p50 ms without", "with", "p99 ms without", "with"];
  const memory = ["live heap MiB before", "with", "after", "RSS MiB before", "with", "after", "KiB each"];
  const heading = ["api", ...latencies, ...memory];
  return {
    rows: [heading, ...held.map((one) => heldRow(one, options.idleConnections))],
    notes: [
      `${options.idleConnections.toLocaleString("en")} connections, each with one request before, held for ${options.holdSeconds} s beside ` +
        `${options.connections} that\nlist; medians of rounds (lowest..highest). Memory is read after a full garbage collection; V8 gives it back late.`,
    ],
    outcomes: held.flatMap((one) => judgeHeld(one, options.idleConnections)),
    details: held.map(({ api, ...one }) => ({ api: api.name, ...one })),
  };
}

async function hold(
  api: Api,
  apiKey: string,
  { databaseUrl, generator, openService }: Stage,
  { idleConnections, holdSeconds, rounds, connections, seconds }: GrowthOptions,
  { progress, signal }: PartDeps,
): Promise<Held> {
  // All connections come from one address, and stand for clients of many.
  const environment = { MAX_CONNECTIONS_PER_ADDRESS: "0" };
  await using server = await openService(api, api.name, { databaseUrl, environment });
  await using crowd = openCrowd(signal);
  const request = api.list({}, apiKey);
  const order = { origin: server.origin, ...drawnFrom([request]), connections, seconds };
  const around = Math.max(1, Math.ceil(rounds / 2));
  await generator.run(order);
  const before = await server.retained();
  const earlier = await loads(around, () => generator.run(order));

  progress(`${api.name}: opening ${idleConnections.toLocaleString("en")} connections ...`);
  const opened = { crowd: await crowd.open(server.origin, idleConnections, request), heap: await server.retained() };
  progress(`${api.name}: holding ${opened.crowd.open.toLocaleString("en")} for ${holdSeconds} s ...`);
  const meanwhile = await loadsFor(holdSeconds, () => generator.run(order));
  const atEnd = await crowd.count();
  await crowd.close();
  const later = await loads(around, () => generator.run(order));
  // Behind other work: V8 gives memory back as it goes on, not at once.
  const closed = await server.retained();
  return {
    api,
    without: [...earlier, ...later],
    meanwhile,
    heap: { before, opened: opened.heap, closed },
    crowd: { opened: opened.crowd, atEnd },
  };
}

async function loads(count: number, load: () => Promise<LoadReport>): Promise<LoadReport[]> {
  const reports: LoadReport[] = [];
  while (reports.length < count) reports.push(await load());
  return reports;
}

async function loadsFor(seconds: number, load: () => Promise<LoadReport>): Promise<LoadReport[]> {
  const endAtMs = performance.now() + seconds * 1_000;
  const reports: LoadReport[] = [];
  while (performance.now() < endAtMs) reports.push(await load());
  return reports;
}

function judgeHeld({ api, without, meanwhile, heap, crowd }: Held, count: number): Outcome[] {
  const { median: p99 } = spread(without.map(({ p99Ms }) => p99Ms));
  const { median, min, max } = spread(meanwhile.map(({ p99Ms }) => p99Ms / p99));
  const keptKibibytes = (heap.closed.liveBytes - heap.before.liveBytes) / count / 1_024;
  const failed = [...without, ...meanwhile].flatMap(({ failure }) => failure ?? []);
  return [
    exactly(count, `${api.name}, idle connections open at the end`, crowd.atEnd.open),
    exactly(0, `${api.name}, errors of idle connections`, crowd.atEnd.failures),
    exactly(0, `${api.name}, rounds of the others with an error`, failed.length),
    {
      what: `${api.name}, p99 of the others with them / without`,
      measured: `${median.toFixed(2)} (${min.toFixed(2)}..${max.toFixed(2)})`,
      goal: "at most 2.00",
      met: median <= 2,
    },
    {
      what: `${api.name}, live heap kept of each when they are closed`,
      measured: `${keptKibibytes.toFixed(2)} KiB`,
      goal: `at most ${mostKeptKibibytes} KiB`,
      met: keptKibibytes <= mostKeptKibibytes,
    },
  ];
}

function heldRow({ api, without, meanwhile, heap }: Held, count: number): string[] {
  const { before, opened, closed } = heap;
  return [
    api.name,
    ...[without, meanwhile].map((reports) => cell(reports.map(({ p50Ms }) => p50Ms))),
    ...[without, meanwhile].map((reports) => cell(reports.map(({ p99Ms }) => p99Ms))),
    ...[before, opened, closed].map(({ liveBytes }) => (liveBytes / 2 ** 20).toFixed(1)),
    ...[before, opened, closed].map(({ rssBytes }) => (rssBytes / 2 ** 20).toFixed(0)),
    ((opened.rssBytes - before.rssBytes) / count / 1_024).toFixed(1),
  ];
}

function cell(values: readonly number[]): string {
  const { median, min, max } = spread(values);
  return `${median.toFixed(2)} (${min.toFixed(2)}..${max.toFixed(2)})`;
}
