import type { Database } from "../../src/database/database.js";
import type { Log } from "../../src/log.js";
import { type Catalogue, createCatalogue } from "../../src/pets/catalogue.js";
import { createKeptPages, type KeptPages } from "../../src/pets/pages/kept-pages.js";
import { createPetPages, type PetPage, type PetPages } from "../../src/pets/pages/pet-pages.js";
import { openSettledIds, type SettledIds } from "../../src/pets/pages/settled-ids.js";
import { silentLog } from "../logs.js";

export interface OpenCatalogue extends Catalogue, Disposable {
  readonly settledIds: SettledIds;
  readonly keptPages: KeptPages<PetPage>;
  readonly pages: PetPages;
}

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
  return {
    ...createCatalogue(database, pages),
    settledIds,
    keptPages,
    pages,
    [Symbol.dispose]: () => settledIds[Symbol.dispose](),
  };
}
