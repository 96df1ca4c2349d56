/**
 * Keeps settled pages in memory. A page is read again after 5 s, or as soon as PostgreSQL reports that a pet has changed. A page
 * that was requested once can displace only other such pages: a walk through all pages does not displace the popular ones.
 */
import { LRUCache } from "lru-cache";
import type { Pet } from "../pet.js";

export interface KeptPages<Page> {
  /** A page that was read at most 5 s ago. */
  get(key: string): Page | undefined;
  /** True if the page was kept before, and is too old or dropped. It will probably be kept again. */
  isExpected(key: string): boolean;
  /** Call it before the page is read, and `keep` after it. Between the two, the pets may change. */
  startRead(): PageRead<Page>;
  /** A pet has changed, or that message may have been lost: stops the use of all kept pages. */
  drop(): void;
  stats(): KeptPagesStats;
}

interface PageRead<Page> {
  keep(key: string, page: Page): void;
}

export interface KeptPagesStats {
  readonly pages: number;
  /** Estimated. */
  readonly bytes: number;
  /** Pages served from memory. */
  readonly hits: number;
  /** Pages read from PostgreSQL. A page that waits for its end to be settled is read twice. */
  readonly misses: number;
}

interface KeptPagesDeps {
  /** Changes when pages that were read before no longer count: they are from another server. */
  readonly epoch: () => number;
  readonly monotonicNow: () => number;
}

interface KeptPage<Page> {
  readonly page: Page;
  readonly readAtMs: number;
  readonly version: string;
}

const freshMs = 5_000;
const bytesRequestedOnce = 4 * 1_024 * 1_024;
const bytesRequestedAgain = 12 * 1_024 * 1_024;

export function createKeptPages<Page extends { readonly pets: readonly Pet[] }>(deps: KeptPagesDeps): KeptPages<Page> {
  const { epoch, monotonicNow } = deps;
  const requestedOnce = new LRUCache<string, KeptPage<Page>>({ maxSize: bytesRequestedOnce, sizeCalculation: sizeOf });
  const requestedAgain = new LRUCache<string, KeptPage<Page>>({
    maxSize: bytesRequestedAgain,
    sizeCalculation: sizeOf,
  });
  let drops = 0;
  let hits = 0;
  let misses = 0;

  const version = () => `${epoch()} ${drops}`;

  function isFresh({ readAtMs, version: readIn }: KeptPage<Page>): boolean {
    return readIn === version() && monotonicNow() - readAtMs <= freshMs;
  }

  function find(key: string): KeptPage<Page> | undefined {
    const first = requestedOnce.get(key);
    if (first === undefined) return requestedAgain.get(key);
    requestedOnce.delete(key);
    requestedAgain.set(key, first);
    return first;
  }

  return {
    get(key) {
      const kept = find(key);
      if (kept === undefined || !isFresh(kept)) return undefined;
      hits += 1;
      return kept.page;
    },
    isExpected: (key) => requestedOnce.has(key) || requestedAgain.has(key),
    startRead() {
      misses += 1;
      const read = { readAtMs: monotonicNow(), version: version() };
      return {
        keep(key, page) {
          const kept = { page, ...read };
          if (!isFresh(kept)) return;
          if (requestedAgain.has(key)) requestedAgain.set(key, kept);
          else requestedOnce.set(key, kept);
        },
      };
    },
    drop() {
      drops += 1;
    },
    stats: () => ({
      pages: requestedOnce.size + requestedAgain.size,
      bytes: requestedOnce.calculatedSize + requestedAgain.calculatedSize,
      hits,
      misses,
    }),
  };
}

/**
 * The objects of a page and of its pets, their names, and the JSON text that the REST API keeps with the page. Measured on
 * Node 20. A character of a name has at most two bytes, and is in the name and in the text.
 */
function sizeOf<Page extends { readonly pets: readonly Pet[] }>({ page }: KeptPage<Page>): number {
  return page.pets.reduce((bytes, { name }) => bytes + bytesOfPet + 4 * name.length, bytesOfPage);
}

const bytesOfPage = 500;
const bytesOfPet = 130;
