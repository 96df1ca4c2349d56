/**
 * Reads pages so that a client can continue from every cursor that it gets, and misses no pet. A pet can still appear below a
 * visible pet whose id is not settled (settling.ts). Therefore a client gets a cursor only for a settled id:
 *
 * - A page that needs no cursor is returned at once: the last page over REST, with the newest pets.
 * - A page whose last id is settled is returned at once. If another page follows, this page cannot change, so it is kept.
 * - Any other page waits until its last id is settled, usually for a few milliseconds, and is then read again.
 * - If an insert stays open for so long that the wait is in vain, the client gets no cursor beyond the settled id: the page
 *   says that it is the last one, and a connection ends at the settled id. The walk is shorter, and misses nothing before
 *   its end.
 */
import type { Database } from "../../database/database.js";
import { databaseUnavailable } from "../../database/database-errors.js";
import { encodeCursor } from "../cursor.js";
import type { Pet, PetStatus } from "../pet.js";
import { selectPets, selectPetsByStatus } from "../pet-queries.js";
import type { KeptPages } from "./kept-pages.js";
import type { SettledIds } from "./settled-ids.js";

export interface PetPage {
  /** Ascending by id. */
  readonly pets: readonly Pet[];
  /** The cursor of the next page; `undefined` on the last page. */
  readonly nextCursor: string | undefined;
  /** True if the page can change only when an operator changes a pet in SQL. A last page is never settled. */
  readonly isSettled: boolean;
  /** The cursor that continues after this pet, for `list` and `listAsConnection`. Use it only on a page of a connection. */
  cursorOf(pet: Pet): string;
}

export interface PetPages {
  /**
   * `next`: the client gets the cursor of the next page. `all`: it gets a cursor for each pet, and continues from the last
   * page too. Throws SERVICE_UNAVAILABLE.
   */
  read(range: PageRange, cursors: "next" | "all"): Promise<PetPage>;
  /** How many pages lack a cursor, because an insert stayed open for too long. */
  shortened(): number;
}

interface PetPagesDeps {
  readonly database: Pick<Database, "run">;
  readonly settledIds: Pick<SettledIds, "current" | "epoch" | "settle">;
  readonly keptPages: KeptPages<PetPage>;
}

export interface PageRange {
  /** The page begins behind this id. 0 is the first page. */
  readonly after: bigint;
  readonly limit: number;
  readonly status: PetStatus | undefined;
}

export interface PageEnd {
  readonly isFollowed: boolean;
  /** The last id of the page; 0 if it is empty. */
  readonly end: bigint;
  /** What was settled before the read: every pet up to this id was visible. `undefined` if that is unknown. */
  readonly settledId: bigint | undefined;
}

interface ReadPage extends PageEnd {
  readonly page: PetPage;
}

export function createPetPages({ database, settledIds, keptPages }: PetPagesDeps): PetPages {
  const inFlight = new Map<string, Promise<ReadPage>>();
  let shortened = 0;

  /**
   * Several requests share a read only if its page was settled before. The last page must be read for each request, because a
   * client finds the pet that it has just created there.
   */
  async function shareRead(key: string, range: PageRange): Promise<ReadPage> {
    const running = keptPages.isExpected(key) ? inFlight.get(key) : undefined;
    if (running !== undefined) {
      const shared = await running;
      if (keptPages.get(key) === shared.page) return shared;
    }
    const read = readPage(key, range);
    inFlight.set(key, read);
    try {
      return await read;
    } finally {
      if (inFlight.get(key) === read) inFlight.delete(key);
    }
  }

  async function readPage(key: string, { after, limit, status }: PageRange): Promise<ReadPage> {
    const epoch = settledIds.epoch();
    const settledBefore = settledIds.current();
    const read = keptPages.startRead();
    // Reads one row more than a page has, to know whether another page follows.
    const found = await (status === undefined
      ? database.run(selectPets, { after, limit: limit + 1 })
      : database.run(selectPetsByStatus, { after, status, limit: limit + 1 }));
    const settledId = settledIds.epoch() === epoch ? settledBefore : undefined;
    const pets = found.slice(0, limit);
    const end = pets.at(-1)?.id ?? 0n;
    const isFollowed = found.length > limit;
    const pageEnd = { isFollowed, end, settledId };
    const isSettled = isFollowed && isSafe(pageEnd, "next");
    const page = pageOf(pets, status, { isFollowed, isSettled });
    if (isSettled) read.keep(key, page);
    return { ...pageEnd, page };
  }

  return {
    async read(range, cursors) {
      const { after, limit, status } = range;
      const key = `${status} ${limit} ${after}`;
      const kept = keptPages.get(key);
      if (kept !== undefined) return kept;

      const first = await shareRead(key, range);
      if (isSafe(first, cursors)) return first.page;
      const outcome = await settledIds.settle(first.end);
      const second = await readPage(key, range);
      if (isSafe(second, cursors)) return second.page;
      // An operator has inserted this id without the sequence. It can never be settled, and must not end all walks.
      if (outcome === "not drawn" && second.end === first.end) return second.page;
      if (second.settledId === undefined) throw databaseUnavailable(new Error("it is unknown which ids are settled"));
      if (outcome === "late") shortened += 1;
      return withoutUnsettledCursors(second.page, second.settledId, status, cursors);
    },
    shortened: () => shortened,
  };
}

/** True if the client can continue from each cursor that it gets with the page. */
export function isSafe({ isFollowed, end, settledId }: PageEnd, cursors: "next" | "all"): boolean {
  const needsCursor = isFollowed || (cursors === "all" && end > 0n);
  return !needsCursor || (settledId !== undefined && end <= settledId);
}

function withoutUnsettledCursors(
  { pets }: PetPage,
  settledId: bigint,
  status: PetStatus | undefined,
  cursors: "next" | "all",
): PetPage {
  const shown = cursors === "all" ? pets.filter(({ id }) => id <= settledId) : pets;
  return pageOf(shown, status, { isFollowed: false, isSettled: false });
}

function pageOf(
  pets: readonly Pet[],
  status: PetStatus | undefined,
  { isFollowed, isSettled }: { readonly isFollowed: boolean; readonly isSettled: boolean },
): PetPage {
  const cursorOf = ({ id }: Pet) => encodeCursor(id, status);
  const last = isFollowed ? pets.at(-1) : undefined;
  return { pets, nextCursor: last && cursorOf(last), isSettled, cursorOf };
}
