import { petStatuses } from "@petstore/core";
import type { ApiRequests, Operation } from "./requests.js";

export interface Workload {
  readonly summary: string;
  /** How many accounts send requests, each with one key. Default: all 32. */
  readonly accounts?: number;
  /**
   * Each request is one of these operations. One that is in the list twice is sent twice as often. The operations of a
   * call keep their place in the catalogue: call it once for each server, so that every server gets the same pages.
   */
  operations(requests: ApiRequests): readonly Operation[];
}

/** The pets of the catalogue before the first create. Their ids are 1 to this number, without a gap. */
export const storedPets = 100_000;

/** The headline: popular pages, programs that walk the catalogue, pages that nobody asked for before, and creates. */
export const browse: Workload = {
  summary: "60 % first pages, 20 % walks, 10 % deep pages, 10 % creates with a key, of 32 accounts",
  operations(requests) {
    const firstPages = everyFirstPage(requests);
    return [
      // 84 first pages 5 times are 420 of 700 operations: 60 %.
      ...repeat(5, firstPages),
      ...repeat(140, [walk(requests)]),
      ...repeat(70, [deepPage(requests)]),
      ...repeat(70, [requests.createOnce]),
    ];
  },
};

export const cold: Workload = {
  summary: "deep pages that nobody asked for before, of 32 accounts",
  operations: (requests) => [deepPage(requests)],
};

export const creates: Workload = {
  summary: "add pets with an idempotency key, of 32 accounts; bare peers have no keys",
  operations: ({ createOnce }) => [createOnce],
};

export const plainCreates: Workload = {
  summary: "add pets without an idempotency key, of 32 accounts (information)",
  operations: ({ create }) => [create],
};

export const hotPage: Workload = {
  summary: "every client requests the same page with the same key (information)",
  accounts: 1,
  operations: ({ list }) => [list({ limit: 20, status: "available" })],
};

/** 84 pages: 10 to 30 pets, of any status or of one. */
function everyFirstPage({ list }: ApiRequests): Operation[] {
  const limits = Array.from({ length: 21 }, (_, index) => 10 + index);
  return limits.flatMap((limit) => [undefined, ...petStatuses].map((status) => list({ limit, status })));
}

const walkers = 8;
const walkedPageSize = 20;
/** Half a second to a second at the usual speed, so that a walker follows the one before it within a few seconds. */
const pagesBetweenWalkers = 50;

/** The next page of one of 8 programs that walk the whole catalogue. They take turns. */
function walk({ list }: ApiRequests): Operation {
  let step = 0;
  return (unique) => {
    const walker = step % walkers;
    const page = walker * pagesBetweenWalkers + Math.floor(step / walkers);
    step += 1;
    return list({ limit: walkedPageSize, after: (page * walkedPageSize) % storedPets })(unique);
  };
}

/** The multiples of this number, without their whole part, are spread evenly over 0 to 1 and do not repeat. */
const goldenRatio = (1 + Math.sqrt(5)) / 2;

/** 10 to 30 pets from anywhere in the catalogue. */
function deepPage({ list }: ApiRequests): Operation {
  let step = 0;
  return (unique) => {
    step += 1;
    const limit = 10 + (step % 21);
    return list({ limit, after: Math.floor(((step * goldenRatio) % 1) * (storedPets - limit)) })(unique);
  };
}

function repeat<Item>(times: number, items: readonly Item[]): Item[] {
  return Array.from({ length: times }, () => items).flat();
}
