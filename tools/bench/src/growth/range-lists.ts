import { otherLengths } from "../different-lists.js";
import type { LoadWork } from "../load-generator.js";
import { type Door, type ListRange, pageSize } from "./doors.js";

/** How many animals each of 32 connections asks for. No two of them are alike; in the mean it is a page. */
export const listLengths: readonly number[] = [pageSize, ...otherLengths];

/**
 * Lists from one place, as long for every range. Alike ones that are asked at once would share a query, and divide what
 * it costs PostgreSQL by their number.
 */
export function listsOf(door: Door, range: ListRange, apiKey: string): LoadWork {
  const listOf = (limit: number) => door.list({ ...range, limit }, apiKey);
  return { ...listOf(pageSize), others: otherLengths.map(listOf) };
}
