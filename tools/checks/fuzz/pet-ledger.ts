import type { Pet } from "../conformance/apis/api.js";

/** Remembers acknowledged creates, to compare them with the lists of both APIs later. */
export interface PetLedger {
  readonly size: number;
  /** Returns a fault when another pet has the same identifier. */
  acknowledge(pet: Pet): string | undefined;
  /** The faults of a whole list. */
  compare(list: readonly Pet[]): readonly string[];
}

export function createPetLedger(): PetLedger {
  const acknowledged = new Map<string, string>();
  return {
    get size() {
      return acknowledged.size;
    },
    acknowledge(pet) {
      const before = acknowledged.get(pet.id);
      acknowledged.set(pet.id, factsOf(pet));
      return before === undefined || before === factsOf(pet) ? undefined : `pet: two pets have the id ${pet.id}`;
    },
    compare(list) {
      const listed = new Map(list.map((pet) => [pet.id, factsOf(pet)]));
      return [...acknowledged].flatMap(([id, facts]) => {
        if (!listed.has(id)) return [`lost: ${id} is acknowledged and not listed`];
        return listed.get(id) === facts ? [] : [`lost: ${id} is listed as ${listed.get(id)} instead of ${facts}`];
      });
    },
  };
}

function factsOf({ name, categoryId, status }: Pet): string {
  return JSON.stringify([name, categoryId, status]);
}
