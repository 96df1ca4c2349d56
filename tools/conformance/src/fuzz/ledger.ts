/** The pets the APIs have said are stored, and whether lists show them so. */
import type { Api, Pet } from "../apis/api.js";
import type { Fault } from "./fault.js";

export interface Ledger {
  readonly size: number;
  /** A fault when the same id was given to another pet before. */
  enter(pet: Pet): Fault | undefined;
  /** Walks the whole list through an API. */
  readBack(api: Api, key: string, signal: AbortSignal): Promise<readonly Fault[]>;
}

const pageLength = "100";

export function openLedger(): Ledger {
  const entries = new Map<string, string>();
  return {
    get size() {
      return entries.size;
    },
    enter(pet) {
      const written = write(pet);
      const before = entries.get(pet.id);
      entries.set(pet.id, written);
      if (before === undefined || before === written) return undefined;
      return { oracle: "pet", reason: "one id was given to two pets" };
    },
    async readBack(api, key, signal) {
      const faults: Fault[] = [];
      let found = 0;
      for (let cursor: string | null | undefined; cursor !== null && !signal.aborted; ) {
        const query = { limit: pageLength, ...(cursor !== undefined && { cursor: JSON.stringify(cursor) }) };
        const answer = await api.send({
          operation: { kind: "list", query },
          authorization: [`Bearer ${key}`],
          address: "2001:db8::1",
        });
        if (answer === undefined || answer.outcome.kind === "failure")
          throw new Error(`${api.name} cannot be read back`);
        for (const pet of answer.outcome.pets) {
          const entry = entries.get(pet.id);
          if (entry === undefined) continue;
          found += 1;
          if (entry !== write(pet))
            faults.push({ oracle: "lost", reason: `${api.name} lists a pet otherwise than it was accepted` });
        }
        cursor = answer.outcome.nextCursor ?? null;
      }
      const lost = signal.aborted ? 0 : entries.size - found;
      for (let left = lost; left > 0; left -= 1)
        faults.push({ oracle: "lost", reason: `${api.name} does not list an accepted pet` });
      return faults;
    },
  };
}

/** Names are compared code unit by code unit, numbers digit by digit. */
function write({ name, categoryId, status }: Pet): string {
  return JSON.stringify([name, categoryId, status]);
}
