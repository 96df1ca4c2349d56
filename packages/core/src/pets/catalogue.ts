import type { z } from "zod";
import type { Database } from "../database/database.js";
import { containsKey } from "../log.js";
import { Problem } from "../problem.js";
import { type CreatedPet, createOnceIn } from "./idempotency.js";
import type { PetPage, PetPages } from "./pages/pet-pages.js";
import { type Pet, parseInt64 } from "./pet.js";
import { insertPet, selectPet } from "./pet-queries.js";
import { listPetsSchema, newPetSchema, petConnectionSchema } from "./validation.js";

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
 * VALIDATION_FAILED. Every call may throw SERVICE_UNAVAILABLE, if the database is unavailable or too busy, and
 * INSUFFICIENT_SCOPE, if the scope of the key does not allow the call.
 */
export interface Catalogue {
  /**
   * A page, by `limit`, `status` and `cursor`. A client that follows the cursors gets every pet once, in ascending order of
   * id, even if pets are created meanwhile. The last page has the newest pets. Throws INVALID_CURSOR.
   */
  list(input: unknown): Promise<PetPage>;
  /**
   * A page for a Relay connection, by `first`, `status` and `after`. A client can continue from the cursor of any pet, even of
   * the last page, so the page may wait up to 0.9 s until no pet can appear before its end. Throws INVALID_CURSOR.
   */
  listAsConnection(input: unknown): Promise<PetPage>;
  /** Throws IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS and API_KEY_INVALID as well. */
  create(request: CreatePet): Promise<CreatedPet>;
  /** The pet with this identifier in decimal digits. Throws PET_NOT_FOUND, also if it is not an int64. */
  get(id: string): Promise<Pet>;
}

export function createCatalogue(database: Pick<Database, "run">, pages: Pick<PetPages, "read">): Catalogue {
  const createOnce = createOnceIn(database);

  return {
    list: async (input) => pages.read(validate(listPetsSchema, input, "query parameter"), "next"),
    listAsConnection: async (input) => pages.read(validate(petConnectionSchema, input, "argument"), "all"),
    async create({ accountId, input, subject = "body", idempotencyKey }) {
      const pet = validate(newPetSchema, input, subject);
      if (idempotencyKey === undefined) {
        const [created] = await database.run(insertPet, pet);
        return { pet: created as Pet, replayed: false };
      }
      if (typeof idempotencyKey !== "string" || !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
        throw new Problem("VALIDATION_FAILED", "idempotency key must be 1 to 255 printable ASCII characters");
      }
      return createOnce({ accountId, key: idempotencyKey, pet });
    },
    async get(id) {
      const petId = parseInt64(id);
      const [pet] = petId === undefined ? [] : await database.run(selectPet, { id: petId });
      if (pet === undefined) throw new Problem("PET_NOT_FOUND");
      return pet;
    },
  };
}

/** Throws VALIDATION_FAILED with a message that lists all errors, but only the first few unknown names. */
function validate<T>(schema: z.ZodType<T>, input: unknown, subject: string): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const errors = result.error.issues.flatMap((issue) => errorsOf(issue, subject));
  throw new Problem("VALIDATION_FAILED", errors.join("; "));
}

/** Names the field and the rule that it breaks. If properties are unknown, names these first. */
function errorsOf(issue: z.core.$ZodIssue, subject: string): string[] {
  const field = issue.path.join(".") || subject;
  const brokenRule = `${field} ${issue.message}`;
  if (issue.code !== "unrecognized_keys") return [brokenRule];
  const names = issue.keys.filter(isPlainName).slice(0, maxUnknownNames);
  return [...names.map((name) => `${name} is unknown`), brokenRule];
}

const maxUnknownNames = 5;

/** Only plain names are repeated in messages, because a name can contain any text. */
function isPlainName(name: string): boolean {
  return /^\w{1,40}$/.test(name) && !containsKey(name);
}
