import type { PetStatus } from "@petstore/core";
import { disposableList } from "../disposable-list.js";
import type { LoadWork } from "../load-generator.js";
import { addPets, type PetLayout } from "../pets.js";
import { addAccount, openMigratedCore } from "../scene.js";
import type { Server } from "../server.js";
import { spread } from "../statistics.js";
import { type Api, apis, drawnFrom, listsOf } from "./apis.js";
import { type BackendClock, openBackendClock } from "./backend-clock.js";
import { type Case, type Cost, type Costs, costRows, measureCosts, ratios } from "./cost.js";
import { atMost, type Outcome } from "./outcome.js";
import type { GrowthOptions, Part, PartDeps, PartResult } from "./part.js";
import { checkPlans } from "./plans.js";
import { onStage, type Stage } from "./stage.js";

export const rows: Part = {
  name: "rows",
  summary: "10,000,000 pets cost a request what 10,000 cost it; a list by status uses its index",
  run: (options, deps) => onStage(deps, (stage) => compareSizes(stage, options, deps)),
};

/**
 * As a store's history lies: the older half is sold, of the newer half every other pet is available, and one in 1,000
 * is pending, but never fewer than 40. A planner that believes in the average reads the older half to find 20 available.
 */
const history: PetLayout = (count) =>
  `case when number % ${Math.min(1_000, Math.floor(count / 40))} = 0 then 'pending'
        when number > ${count / 2} and number % 2 = 0 then 'available' else 'sold' end`;

interface Kind {
  readonly name: string;
  asked(api: Api, apiKey: string): LoadWork;
}

const kinds: readonly Kind[] = [
  { name: "list", asked: (api, apiKey) => listsOf(api, {}, apiKey) },
  listOf("available", "list of available"),
  listOf("pending", "list of rare"),
  { name: "create", asked: (api, apiKey) => drawnFrom([api.create(apiKey)]) },
];

interface Store {
  readonly count: number;
  readonly databaseUrl: string;
  readonly apiKey: string;
  readonly backends: BackendClock;
}

async function compareSizes(stage: Stage, options: GrowthOptions, deps: PartDeps): Promise<PartResult> {
  const { progress } = deps;
  await using clocks = disposableList<BackendClock>();
  const stores: Store[] = [];
  for (const count of sizesUpTo(options.rows)) {
    const store = await fillStore(stage, count, deps);
    clocks.items.push(store.backends);
    stores.push(store);
  }
  const [smallest, largest] = [stores[0], stores.at(-1)];
  if (smallest === undefined || largest === undefined) throw new Error("there is nothing to compare");

  progress(`reading the plans of the lists by status at ${largest.count.toLocaleString("en")} ...`);
  const plans = await checkPlans(stage, largest);
  const costs = await measureStores(stage, stores, options, progress);

  const judgeKind = (api: Api, kind: string): Outcome => {
    const [large, small] = [caseName(api, kind, largest.count), caseName(api, kind, smallest.count)];
    const what = `${large} / ${smallest.count.toLocaleString("en")}, CPU`;
    return atMost(1.2, what, spread(ratios(costs, large, small, "microseconds")));
  };
  return {
    rows: costRows(costs),
    notes: [
      `${options.connections} connections with lists of 5 to 35 pets; medians of ${options.rounds} rounds\n` +
        "(lowest..highest). The older half of the pets is sold; rare are 1 in 1,000. Creating is measured last: its\n" +
        "pets are added to these.",
      ...plans.examples,
    ],
    outcomes: [...plans.outcomes, ...apis.flatMap((api) => kinds.map(({ name }) => judgeKind(api, name)))],
    details: { costs: Object.fromEntries(costs), plans: plans.seen },
  };
}

async function fillStore(stage: Stage, count: number, deps: PartDeps): Promise<Store> {
  deps.progress(`adding ${count.toLocaleString("en")} pets, about 150 bytes of disk each ...`);
  const databaseUrl = await stage.createDatabase(`rows_${count}`);
  await using core = await openMigratedCore(databaseUrl);
  const apiKey = await addAccount(core, "growth");
  await addPets(databaseUrl, count, history, deps);
  return { count, databaseUrl, apiKey, backends: await openBackendClock(databaseUrl) };
}

/** One kind after the other, so that creating, the last one, adds no rows to what the lists are measured on. */
async function measureStores(
  stage: Stage,
  stores: readonly Store[],
  options: GrowthOptions,
  progress: (line: string) => void,
): Promise<Costs> {
  const { connections, seconds } = options;
  const served: { readonly store: Store; readonly api: Api; readonly server: Server }[] = [];
  for (const store of stores) {
    for (const api of apis) served.push({ store, api, server: await openService(stage, api, store) });
  }
  const costs = new Map<string, readonly Cost[]>();
  for (const kind of kinds) {
    const cases = served.map(({ store: { count, apiKey, backends }, api, server }): Case => {
      const order = { origin: server.origin, ...kind.asked(api, apiKey), connections, seconds };
      return { name: caseName(api, kind.name, count), server, backends, order };
    });
    const ofKind = await measureCosts(cases, stage.generator, options, (line) => progress(`${kind.name}: ${line}`));
    for (const [name, rounds] of ofKind) costs.set(name, rounds);
  }
  return costs;
}

/** The whole run may not have more than PostgreSQL's 100 connections. */
function openService(stage: Stage, api: Api, { count, databaseUrl }: Store): Promise<Server> {
  return stage.openService(api, `${api.name}-${count}`, { databaseUrl, environment: { DATABASE_POOL_SIZE: "5" } });
}

function sizesUpTo(largest: number): number[] {
  const smaller = [10_000, 100_000, 1_000_000].filter((count) => count < largest);
  return [...(smaller.length > 0 ? smaller : [Math.floor(largest / 2)]), largest];
}

function listOf(status: PetStatus, name: string): Kind {
  return { name, asked: (api, apiKey) => listsOf(api, { status }, apiKey) };
}

function caseName(api: Api, kind: string, count: number): string {
  return `${api.name}, ${kind}, ${count.toLocaleString("en")}`;
}
