import type { LoadPart, LoadWork } from "../load-generator.js";
import { fillIn, type WorkRequest, withKey } from "../words.js";

export interface Randomness {
  /** From 0 up to 1, like `Math.random`. */
  fraction(): number;
  /** A text that was never returned before. */
  unique(): string;
}

/** Returns a function that draws the next request. */
export function createDraw({ parts, apiKeys }: LoadWork, { fraction, unique }: Randomness): () => WorkRequest {
  const total = parts.reduce((sum, { share }) => sum + share, 0);
  // The texts are filled in for each request, but only where there are any: the generator shares the machine.
  const hasPlaces = new Map<WorkRequest, boolean>();
  for (const request of parts.flatMap(({ requests }) => requests)) {
    hasPlaces.set(request, JSON.stringify(request).includes("{unique}"));
  }
  return () => {
    const request = pick(partAt(parts, fraction() * total).requests, fraction());
    const apiKey = apiKeys.length === 0 ? undefined : pick(apiKeys, fraction());
    const filled = hasPlaces.get(request) ? fillIn(request, unique()) : request;
    return apiKey === undefined ? filled : withKey(filled, apiKey);
  };
}

function partAt(parts: readonly LoadPart[], place: number): LoadPart {
  let end = 0;
  const found = parts.find(({ share }) => {
    end += share;
    return place < end;
  });
  if (found === undefined) throw new Error("a workload has at least one part, with a share above 0");
  return found;
}

function pick<Item>(items: readonly Item[], fraction: number): Item {
  const item = items[Math.floor(fraction * items.length)];
  if (item === undefined) throw new Error("a part of a workload has at least one request");
  return item;
}
