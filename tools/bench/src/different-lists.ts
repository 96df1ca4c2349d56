import type { Work } from "./benchmark.js";

/** 5 to 36, without 20, which they are in the mean. */
export const otherLengths: readonly number[] = Array.from({ length: 32 }, (_, place) => place + 5).filter(
  (length) => length !== 20,
);

/** A list of 20, and as many others as it takes that of 32 callers no two ask the same. */
export function differentLists(listOf: (limit: number) => Work): Work {
  return { ...listOf(20), others: otherLengths.map(listOf) };
}
