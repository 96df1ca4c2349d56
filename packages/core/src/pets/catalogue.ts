import type { z } from "zod";
import type { Database } from "../database/database.js";
import { Problem } from "../problem.js";
import { decodeCursor, encodeCursor } from "./cursor.js";
import { type CreatedPet, createOnceIn } from "./idempotency.js";
import { type Pet, parseInt64 } from "./pet.js";
import { createAddPet } from "./pet-inserts.js";
import { findPet, listPets, type PetRangePage } from "./pet-queries.js";
import { type ListPets, listPetsSchema, newPetSchema, petConnectionSchema } from "./validation.js";

export interface PetPage {
  /** Ascending by id. */
  readonly pets: readonly Pet[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

/** A page for the Relay cursor connections specification, in which every pet has a cursor. */
export interface PetConnection {
  /** Ascending by id. */
  readonly pets: readonly Pet[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** The cursor that continues after this pet, for `list` and `listAsConnection`. */
  cursorOf(pet: Pet): string;
}

interface CreatePet {
  readonly accountId: bigint;
  /** The parsed new pet, with integers as bigint. */
  readonly input: unknown;
  /** The name of the whole input in messages. Default: `body`. */
  readonly subject?: string;
  readonly idempotencyKey?: unknown;
}

/**
 * The pets of the store, for both APIs, with validation. `list`, `listAsConnection` and `create` may throw the Problem
 * VALIDATION_FAILED. Every call may throw SERVICE_UNAVAILABLE, if the database is unavailable or too busy.
 */
export interface Catalogue {
  /**
   * A page, by `limit`, `status` and `cursor`. The pages are not a change feed: an id is assigned before its insert
   * commits, so a client may miss a pet that is created while it reads the pages. Throws INVALID_CURSOR.
   */
  list(input: unknown): Promise<PetPage>;
  /** The same page for a Relay connection, by `first`, `status` and `after`. Throws INVALID_CURSOR. */
  listAsConnection(input: unknown): Promise<PetConnection>;
  /** Throws IDEMPOTENCY_KEY_REUSED and IDEMPOTENCY_IN_PROGRESS as well. */
  create(request: CreatePet): Promise<CreatedPet>;
  /** The pet with this identifier in decimal digits. Throws PET_NOT_FOUND, also if it is not an int64. */
  get(id: string): Promise<Pet>;
}

/** Identifiers begin at 1. */
const beforeFirst = 0n;

export function createCatalogue(database: Pick<Database, "run">): Catalogue {
  const addPet = createAddPet(database);
  const createOnce = createOnceIn(database);

  function read({ limit, status, cursor }: ListPets): Promise<PetRangePage> {
    const after = cursor === undefined ? beforeFirst : decodeCursor(cursor, status);
    return listPets(database, { after, status, limit });
  }

  return {
    async list(input) {
      const query = validate(listPetsSchema, input, "query parameter");
      const { pets, hasMore } = await read(query);
      const last = pets.at(-1);
      return hasMore && last !== undefined ? { pets, nextCursor: encodeCursor(last.id, query.status) } : { pets };
    },
    async listAsConnection(input) {
      const { first, status, after } = validate(petConnectionSchema, input, "argument");
      const { pets, hasMore } = await read({ limit: first, status, cursor: after });
      return {
        pets,
        hasNextPage: hasMore,
        // A cursor holds a pet of this list, and pets are never removed.
        hasPreviousPage: after !== undefined,
        cursorOf: ({ id }) => encodeCursor(id, status),
      };
    },
    async create({ accountId, input, subject = "body", idempotencyKey }) {
      const pet = validate(newPetSchema, input, subject);
      if (idempotencyKey === undefined) return { pet: await addPet(pet), replayed: false };
      if (typeof idempotencyKey !== "string" || !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
        throw new Problem("VALIDATION_FAILED", "idempotency key must be 1 to 255 printable ASCII characters");
      }
      return createOnce({ accountId, key: idempotencyKey, pet });
    },
    async get(id) {
      const petId = parseInt64(id);
      const pet = petId === undefined ? undefined : await findPet(database, petId);
      if (pet === undefined) throw new Problem("PET_NOT_FOUND");
      return pet;
    },
  };
}

/**
 * Returns the typed input. Throws VALIDATION_FAILED with a message that lists all errors. `subject` is the name of the whole
 * input in this message.
 */
function validate<T>(schema: z.ZodType<T>, input: unknown, subject: string): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const errors = result.error.issues.map(({ path, message }) => `${path.join(".") || subject} ${message}`);
  throw new Problem("VALIDATION_FAILED", errors.join("; "));
}
