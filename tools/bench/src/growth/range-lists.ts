import { otherLengths } from "../different-lists.js";
import type { LoadWork } from "../load-generator.js";
import { type Api, type ListRange, pageSize } from "./apis.js";

/** How many pets each of 32 connections asks for. No two of them are alike; in the mean it is a page. */
export const listLengths: readonly number[] = [pageSize, ...otherLengths];

/**
 * Lists from one place, as long for every range. Alike ones that are asked at once would share a query, and divide what
 * it costs PostgreSQL by their number.
 */
export function listsOf(api: Api, range: ListRange, apiKey: string): LoadWork {
  const listOf = (limit: number) => api.list({ ...range, limit }, apiKey);
  return { ...listOf(pageSize), others: otherLengths.map(listOf) };
}
