import { isDeepStrictEqual } from "node:util";
import type { Core, PetStatus } from "@petstore/core";
import type { LoadOrder } from "../load-generator.js";
import { addPets, ask } from "../pets.js";
import { addAccount, openMigratedCore } from "../scene.js";
import type { Server } from "../server.js";
import { spread } from "../statistics.js";
import { type Api, apis, listLengths, listsOf, pageSize } from "./apis.js";
import { openBackendClock } from "./backend-clock.js";
import { type Case, type Cost, type Costs, costRows, measureCosts, ratios } from "./cost.js";
import { atMost, type Outcome } from "./outcome.js";
import type { GrowthOptions, Part, PartDeps, PartResult } from "./part.js";
import { onStage, type Stage } from "./stage.js";

export const pages: Part = {
  name: "pages",
  summary: "page 10,000 of a list costs what its first page costs, filtered or not",
  run: (options, deps) => onStage(deps, (stage) => comparePages(stage, options, deps)),
};

const lists: readonly { readonly name: string; readonly status: PetStatus | undefined }[] = [
  { name: "all", status: undefined },
  { name: "available", status: "available" },
];

/** Every tenth pet is in the way of those that are available. */
const everyTenthSold = () => "case when number % 10 = 0 then 'sold' else 'available' end";

async function comparePages(stage: Stage, options: GrowthOptions, deps: PartDeps): Promise<PartResult> {
  const { databaseUrl, generator } = stage;
  const { page, connections, seconds } = options;
  await using core = await openMigratedCore(databaseUrl);
  const apiKey = await addAccount(core, "growth");
  // Enough of them for the page behind, too: so both pages have a next one, and so does the longest list.
  await addPets(databaseUrl, Math.ceil(((page + 1) * pageSize * 10) / 9), everyTenthSold, deps);
  await using backends = await openBackendClock(databaseUrl);

  const cases: Case[] = [];
  for (const api of apis) {
    const server = await stage.openService(api, api.name, { databaseUrl });
    for (const list of lists) {
      for (const number of [1, page]) {
        const { status } = list;
        const cursor = number === 1 ? undefined : await cursorBefore(core, databaseUrl, number, status);
        const order = { origin: server.origin, ...listsOf(api, { status, cursor }, apiKey), connections, seconds };
        await checkLists(api, server, order, await idsFromPage(databaseUrl, number, status));
        cases.push({ name: caseName(api, list.name, number), server, backends, order });
      }
    }
  }
  const costs = await measureCosts(cases, generator, options, deps.progress);
  return {
    rows: costRows(costs),
    notes: [
      `${pageSize} pets a page; ${connections} connections with lists of 5 to 35 pets.\n` +
        `Medians of ${options.rounds} rounds (lowest..highest).`,
    ],
    outcomes: apis.flatMap((api) => lists.flatMap((list) => judgePage(costs, api, list.name, page))),
    details: Object.fromEntries(costs),
  };
}

function judgePage(costs: Costs, api: Api, list: string, page: number): Outcome[] {
  const [first, far] = [caseName(api, list, 1), caseName(api, list, page)];
  const ratio = (measure: keyof Cost) => spread(ratios(costs, far, first, measure));
  return [
    atMost(1.1, `${far} / page 1, CPU`, ratio("microseconds")),
    atMost(1.1, `${far} / page 1, p50`, ratio("p50Ms")),
  ];
}

function caseName(api: Api, list: string, page: number): string {
  return `${api.name}, ${list}, page ${page.toLocaleString("en")}`;
}

/** As a client that walks there gets it: by core's own function, of the last pet of the page before. */
async function cursorBefore(
  { catalogue }: Core,
  databaseUrl: string,
  page: number,
  status: PetStatus | undefined,
): Promise<string> {
  const last = (await idsFromPage(databaseUrl, page - 1, status))[pageSize - 1];
  if (last === undefined) throw new Error(`there is no page ${page - 1}`);
  const { cursorOf } = await catalogue.listAsConnection({ first: 1, status });
  return cursorOf(await catalogue.get(last));
}

/** As many as the longest list has. Counted, by the statement that cursors are there to avoid. */
async function idsFromPage(databaseUrl: string, page: number, status: PetStatus | undefined): Promise<string[]> {
  const rows = await ask<{ readonly id: string }>(
    databaseUrl,
    "select id::text from pets where $1::pet_status is null or status = $1 order by pets.id offset $2 limit $3",
    [status, (page - 1) * pageSize, Math.max(...listLengths)],
  );
  return rows.map(({ id }) => id);
}

async function checkLists(api: Api, server: Server, order: LoadOrder, ids: readonly string[]): Promise<void> {
  const requests = order.parts.flatMap((part) => part.requests);
  for (const [place, { path, method, headers, body }] of requests.entries()) {
    const response = await fetch(order.origin + path, { method, headers, ...(body !== undefined && { body }) });
    if (!response.ok) throw new Error(`${server.name} does not list: ${await response.text()}`);
    const expected = ids.slice(0, listLengths[place]);
    if (!isDeepStrictEqual(api.idsOf(await response.json()), expected)) throw new Error(`${server.name} lists others`);
  }
}
