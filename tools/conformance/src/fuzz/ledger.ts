/** The animals the doors have said are stored, and whether lists show them so. */
import type { Animal, Door } from "../doors/door.js";
import type { Fault } from "./fault.js";

export interface Ledger {
  readonly size: number;
  /** A fault when the same id was given to another animal before. */
  enter(animal: Animal): Fault | undefined;
  /** Walks the whole list through a door. */
  readBack(door: Door, key: string, signal: AbortSignal): Promise<readonly Fault[]>;
}

const pageLength = "100";

export function openLedger(): Ledger {
  const entries = new Map<string, string>();
  return {
    get size() {
      return entries.size;
    },
    enter(animal) {
      const written = write(animal);
      const before = entries.get(animal.id);
      entries.set(animal.id, written);
      if (before === undefined || before === written) return undefined;
      return { oracle: "animal", reason: "one id was given to two animals" };
    },
    async readBack(door, key, signal) {
      const faults: Fault[] = [];
      let found = 0;
      for (let cursor: string | null | undefined; cursor !== null && !signal.aborted; ) {
        const query = { limit: pageLength, ...(cursor !== undefined && { cursor: JSON.stringify(cursor) }) };
        const answer = await door.send({
          operation: { kind: "list", query },
          authorization: [`Bearer ${key}`],
          address: "2001:db8::1",
        });
        if (answer === undefined || answer.outcome.kind === "failure")
          throw new Error(`${door.name} cannot be read back`);
        for (const animal of answer.outcome.animals) {
          const entry = entries.get(animal.id);
          if (entry === undefined) continue;
          found += 1;
          if (entry !== write(animal))
            faults.push({ oracle: "lost", reason: `${door.name} lists an animal otherwise than it was accepted` });
        }
        cursor = answer.outcome.nextCursor ?? null;
      }
      const lost = signal.aborted ? 0 : entries.size - found;
      for (let left = lost; left > 0; left -= 1)
        faults.push({ oracle: "lost", reason: `${door.name} does not list an accepted animal` });
      return faults;
    },
  };
}

/** Names are compared code unit by code unit, numbers digit by digit. */
function write({ name, categoryId, status }: Animal): string {
  return JSON.stringify([name, categoryId, status]);
}
