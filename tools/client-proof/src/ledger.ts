import type { PetStoreClient } from "@petstore/client";

/** What became of a number of creates, beside what is stored. */
export interface LedgerFigures {
  readonly acknowledged: number;
  /** Calls that were rejected in the end. */
  readonly failed: number;
  /** Names stored more than once. */
  readonly duplicates: number;
  /** Names acknowledged and not stored. */
  readonly lost: number;
}

export interface Ledger {
  readonly names: readonly string[];
  /** To be read when `creating` has ended. */
  compare(stored: ReadonlyMap<string, number>): LedgerFigures;
  readonly creating: Promise<void>;
}

/** Creates pets with names of their own, so many at a time, until there are so many. */
export function startCreating(client: PetStoreClient, total: number, atOnce: number): Ledger {
  const names = Array.from({ length: total }, (_, index) => `pet ${index}`);
  const acknowledged: string[] = [];
  const left = [...names].reverse();
  const create = async (): Promise<void> => {
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      try {
        await client.pets.create({ name, categoryId: 1 });
        acknowledged.push(name);
      } catch {
        // Counted as failed, because it is not acknowledged.
      }
    }
  };
  return {
    names,
    creating: Promise.all(Array.from({ length: atOnce }, create)).then(() => undefined),
    compare: (stored) => ({
      acknowledged: acknowledged.length,
      failed: names.length - acknowledged.length,
      duplicates: [...stored.values()].filter((count) => count > 1).length,
      lost: acknowledged.filter((name) => !stored.has(name)).length,
    }),
  };
}
