import type { Caller } from "../../src/admission/caller.js";
import type { Database } from "../../src/database/database.js";
import type { Log } from "../../src/log.js";
import { type Catalogue, createCatalogue } from "../../src/pets/catalogue.js";
import { createKeptPages, type KeptPages } from "../../src/pets/pages/kept-pages.js";
import { createPetPages, type PetPage, type PetPages } from "../../src/pets/pages/pet-pages.js";
import { openSettledIds, type SettledIds } from "../../src/pets/pages/settled-ids.js";
import { silentLog } from "../logs.js";

type WithoutCaller<Call> = Call extends (caller: Caller, ...rest: infer Rest) => infer Result
  ? (...rest: Rest) => Result
  : never;

/** The catalogue, called by an account with a working key of every scope. */
export interface OpenCatalogue extends Disposable {
  readonly list: WithoutCaller<Catalogue["list"]>;
  readonly listAsConnection: WithoutCaller<Catalogue["listAsConnection"]>;
  readonly create: WithoutCaller<Catalogue["create"]>;
  readonly get: WithoutCaller<Catalogue["get"]>;
  readonly settledIds: SettledIds;
  readonly keptPages: KeptPages<PetPage>;
  readonly pages: PetPages;
}

const caller: Caller = { accountId: 1n, scope: "both", staleCause: undefined };

interface Options {
  readonly log?: Log;
  readonly monotonicNow?: () => number;
}

/** The catalogue as `openCore` wires it: one instance of a service, without its notifications. */
export function openCatalogue(
  database: Pick<Database, "run" | "noticeServer" | "serverChanges">,
  { log = silentLog, monotonicNow = performance.now.bind(performance) }: Options = {},
): OpenCatalogue {
  const settledIds = openSettledIds({ database, log, monotonicNow, writeTimeoutMs: 2_000 });
  const keptPages = createKeptPages<PetPage>({ epoch: settledIds.epoch, monotonicNow });
  const pages = createPetPages({ database, settledIds, keptPages });
  const catalogue = createCatalogue(database, pages);
  return {
    list: (input) => catalogue.list(caller, input),
    listAsConnection: (input) => catalogue.listAsConnection(caller, input),
    create: (request) => catalogue.create(caller, request),
    get: (id) => catalogue.get(caller, id),
    settledIds,
    keptPages,
    pages,
    [Symbol.dispose]: () => settledIds[Symbol.dispose](),
  };
}
