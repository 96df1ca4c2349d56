import type { Database } from "../database/database.js";
import { Problem } from "../problem.js";
import { type CreatedPet, createOnceIn } from "./idempotency.js";
import { parseInt64 } from "./int64.js";
import { decodeCursor, encodeCursor } from "./page.js";
import type { Pet } from "./pet.js";
import { createPetRepository, type PetRangePage } from "./pet-repository.js";
import { connectPetsSchema, type ListPets, listPetsSchema, newPetSchema, validate } from "./validation.js";

export interface PetPage {
  /** Ascending by id. */
  readonly pets: readonly Pet[];
  /** Where the next page begins; absent on the last one. */
  readonly nextCursor?: string;
}

/** A page as the Relay cursor connections specification wants it: every pet has a cursor of its own. */
export interface PetConnection {
  /** Ascending by id. */
  readonly pets: readonly Pet[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** The cursor that continues after this pet, for `list` and `connect`. */
  cursorOf(pet: Pet): string;
}

export interface CreatePet {
  readonly accountId: bigint;
  /** The new pet as it was parsed, integers as bigint. */
  readonly input: unknown;
  /** What messages call the pet as a whole: `body` over REST. */
  readonly subject?: string;
  /** As the client sent it. */
  readonly idempotencyKey?: unknown;
}

/**
 * The pets of the store: what both APIs do, once, validation included. Faults are Problems: VALIDATION_FAILED, and
 * SERVICE_UNAVAILABLE where the database is away or too busy, are thrown by everything.
 */
export interface Catalogue {
  /**
   * A page, by `limit`, `status` and `cursor`. A walk over the pages is not a change feed: ids are assigned before the
   * insert commits, so a pet that is created during the walk may be missed. Throws INVALID_CURSOR.
   */
  list(input: unknown): Promise<PetPage>;
  /** The same page for a Relay connection, by `first`, `status` and `after`. Throws INVALID_CURSOR. */
  connect(input: unknown): Promise<PetConnection>;
  /** Throws IDEMPOTENCY_KEY_REUSED and IDEMPOTENCY_IN_PROGRESS as well. */
  create(request: CreatePet): Promise<CreatedPet>;
  /** The pet with this identifier, given in decimal digits. Throws PET_NOT_FOUND, also for what is no int64. */
  get(id: string): Promise<Pet>;
}

/** Identifiers are assigned from 1 upwards. */
const beforeFirst = 0n;

export interface CatalogueDeps {
  readonly database: Pick<Database, "run">;
}

export function createCatalogue({ database }: CatalogueDeps): Catalogue {
  const repository = createPetRepository(database);
  const createOnce = createOnceIn(database);

  async function read({ limit, status, cursor }: ListPets): Promise<PetRangePage> {
    const after = cursor === undefined ? beforeFirst : decodeCursor(cursor, status);
    return repository.list({ after, status, limit });
  }

  return {
    async list(input) {
      const query = validate(listPetsSchema, input, "query parameter");
      const { pets, hasMore } = await read(query);
      const last = pets.at(-1);
      return hasMore && last !== undefined ? { pets, nextCursor: encodeCursor(last.id, query.status) } : { pets };
    },
    async connect(input) {
      const { first, status, after } = validate(connectPetsSchema, input, "argument");
      const { pets, hasMore } = await read({ limit: first, status, cursor: after });
      return {
        pets,
        hasNextPage: hasMore,
        // A cursor names a pet of this list, and pets are never removed.
        hasPreviousPage: after !== undefined,
        cursorOf: ({ id }) => encodeCursor(id, status),
      };
    },
    async create({ accountId, input, subject = "body", idempotencyKey }) {
      const pet = validate(newPetSchema, input, subject);
      if (idempotencyKey === undefined) return { pet: await repository.add(pet), replayed: false };
      if (typeof idempotencyKey !== "string" || !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
        throw new Problem("VALIDATION_FAILED", "idempotency key must be 1 to 255 printable ASCII characters");
      }
      return createOnce({ accountId, key: idempotencyKey, pet });
    },
    async get(id) {
      const petId = parseInt64(id);
      const pet = petId === undefined ? undefined : await repository.find(petId);
      if (pet === undefined) throw new Problem("PET_NOT_FOUND");
      return pet;
    },
  };
}
