import { petStatuses } from "@petstore/core";
import type { ApiRequests, Operation } from "./requests.js";

export interface Workload {
  readonly summary: string;
  /** How many accounts send requests, each with one key. Default: all 32. */
  readonly accounts?: number;
  /** Each request is one of these operations. One that is in the list twice is sent twice as often. */
  operations(requests: ApiRequests): readonly Operation[];
}

/** The headline: it resembles real traffic. */
export const mixed: Workload = {
  summary: "lists of 10 to 30 pets and 10 % creates, of 32 accounts, all different",
  operations(requests) {
    const lists = everyList(requests);
    const creates = repeat(9, [requests.create]);
    // 84 lists 15 times are 90 % of the requests. A tenth of the creates has an idempotency key.
    return [...repeat(15, lists), ...repeat(14, [...creates, requests.createOnce])];
  },
};

export const lists: Workload = {
  summary: "lists of 10 to 30 pets, one at a time",
  operations: everyList,
};

export const creates: Workload = {
  summary: "add pets, of 32 accounts",
  operations: ({ create }) => [create],
};

export const hotPage: Workload = {
  summary: "every client requests the same page with the same key (information)",
  accounts: 1,
  operations: ({ list }) => [list(20, "available")],
};

/** 84 different lists. Requests for the same list at once could share one query. */
function everyList({ list }: ApiRequests): Operation[] {
  const limits = Array.from({ length: 21 }, (_, index) => 10 + index);
  return limits.flatMap((limit) => [undefined, ...petStatuses].map((status) => list(limit, status)));
}

function repeat<Item>(times: number, items: readonly Item[]): Item[] {
  return Array.from({ length: times }, () => items).flat();
}
