import { petStatuses } from "@petstore/core";
import type { LoadWork } from "./load-generator.js";
import type { Words, Work } from "./words.js";

/** Requests that differ: one part is drawn by its share, then one of its works, then the key of an account. */
export interface Workload {
  readonly parts: readonly WorkloadPart[];
  /** Each has one key. */
  readonly accounts: number;
}

interface WorkloadPart {
  /** Relative to the shares of the other parts. */
  readonly share: number;
  readonly works: readonly Work[];
}

const accounts = 32;

/** The headline: lists, and 10 % creates, a tenth of them with an idempotency key. */
export function mixed(words: Words): Workload {
  return {
    parts: [
      { share: 90, works: everyList(words) },
      { share: 9, works: [words.create] },
      { share: 1, works: [words.createOnce] },
    ],
    accounts,
  };
}

export function lists(words: Words): Workload {
  return { parts: [{ share: 1, works: everyList(words) }], accounts };
}

export function creates(words: Words): Workload {
  return { parts: [{ share: 1, works: [words.create] }], accounts };
}

/** Every client asks for the same page with the same key. */
export function hotPage(words: Words): Workload {
  return { parts: [{ share: 1, works: [words.listOf(20, "available")] }], accounts: 1 };
}

export function loadWorkOf({ parts }: Workload, apiKeys: readonly string[]): LoadWork {
  return {
    parts: parts.map(({ share, works }) => ({ share, requests: works.map(({ request }) => request) })),
    apiKeys,
  };
}

/** Lists of 10 to 30 pets, with each status and without one. */
function everyList({ listOf }: Words): Work[] {
  const limits = Array.from({ length: 21 }, (_, index) => 10 + index);
  return limits.flatMap((limit) => [undefined, ...petStatuses].map((status) => listOf(limit, status)));
}
