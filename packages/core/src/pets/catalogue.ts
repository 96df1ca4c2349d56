import type { Database } from "../database/database.js";
import { Problem } from "../problem.js";
import { type CreatedPet, openCreateOnce } from "./idempotency.js";
import { parseInt64 } from "./int64.js";
import { decodeCursor, encodeCursor } from "./page.js";
import type { Pet } from "./pet.js";
import { createPetRepository } from "./pet-repository.js";
import { listPetsSchema, newPetSchema, validate } from "./validation.js";

export interface PetPage {
  /** Ascending by id. */
  readonly pets: readonly Pet[];
  /** Where the next page begins; absent on the last one. */
  readonly nextCursor?: string;
}

export interface CreatePet {
  readonly accountId: bigint;
  /** The request body as it was parsed, integers as bigint. */
  readonly input: unknown;
  readonly idempotencyKey?: string | undefined;
}

/** The animals of the store: what both doors do, once, validation included. Faults are Problems. */
export interface Catalogue {
  list(input: unknown): Promise<PetPage>;
  create(request: CreatePet): Promise<CreatedPet>;
  /** The animal with this identifier, given in decimal digits. Throws PET_NOT_FOUND, also for what is no int64. */
  get(id: string): Promise<Pet>;
}

/** Identifiers are assigned from 1 upwards. */
const beforeFirst = 0n;

export interface CatalogueDeps {
  readonly database: Database;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export function createCatalogue({ database, now }: CatalogueDeps): Catalogue {
  const pets = createPetRepository(database);
  const createOnce = openCreateOnce(database);
  return {
    async list(input) {
      const { limit, status, cursor } = validate(listPetsSchema, input, "query parameter");
      const after = cursor === undefined ? beforeFirst : decodeCursor(cursor, status);
      // One more than asked for tells whether another page exists, without counting.
      const found = await pets.list({ after, status, limit: limit + 1 });
      const page = found.slice(0, limit);
      const last = page.at(-1);
      return found.length > limit && last !== undefined
        ? { pets: page, nextCursor: encodeCursor(last.id, status) }
        : { pets: page };
    },
    async create({ accountId, input, idempotencyKey }) {
      const pet = validate(newPetSchema, input, "body");
      if (idempotencyKey === undefined) return { pet: await pets.add(pet), replayed: false };
      if (!/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
        throw new Problem("VALIDATION_FAILED", "idempotency key must be 1 to 255 printable ASCII characters");
      }
      return createOnce({ accountId, key: idempotencyKey, pet, at: new Date(now()) });
    },
    async get(id) {
      const petId = parseInt64(id);
      const pet = petId === undefined ? undefined : await pets.find(petId);
      if (pet === undefined) throw new Problem("PET_NOT_FOUND");
      return pet;
    },
  };
}
