/** Checks the caller and the input, and lists, reads and creates pets. */
import type { z } from "zod";
import { type Caller, requireScope } from "../admission/caller.js";
import type { Database } from "../database/database.js";
import { databaseUnavailable } from "../database/database-errors.js";
import { containsKey } from "../log.js";
import { Problem } from "../problem.js";
import { decodeCursor } from "./cursor.js";
import { type CreatedPet, createOnceIn } from "./idempotency.js";
import type { PageRange, PetPage, PetPages } from "./pages/pet-pages.js";
import { type Pet, parseInt64 } from "./pet.js";
import { insertPet, selectPet } from "./pet-queries.js";
import { type ListPets, listPetsSchema, newPetSchema, petConnectionSchema } from "./validation.js";

interface CreatePet {
  /** The parsed new pet, with integers as bigint. */
  readonly input: unknown;
  /** The name of the whole input in messages. Default: `body`. */
  readonly subject?: string;
  readonly idempotencyKey?: unknown;
}

/**
 * The pets of the store, for both APIs. Every call checks the caller and the input, in this order:
 *
 * 1. INSUFFICIENT_SCOPE, if the scope of the caller's key does not include the call.
 * 2. VALIDATION_FAILED or another problem of the input.
 * 3. SERVICE_UNAVAILABLE, if the caller's key is stale: it may have been revoked, so it reads and writes nothing. The same if
 *    the database is unavailable or too busy.
 */
export interface Catalogue {
  /**
   * A page, by `limit`, `status` and `cursor`. A client that follows the cursors gets every pet once, in ascending order of
   * id, even if pets are created meanwhile. The last page has the newest pets. Throws INVALID_CURSOR.
   */
  list(caller: Caller, input: unknown): Promise<PetPage>;
  /**
   * A page for a Relay connection, by `first`, `status` and `after`. A client can continue from the cursor of any pet, even of
   * the last page, so the page may wait up to 0.9 s until no pet can appear before its end. Throws INVALID_CURSOR.
   */
  listAsConnection(caller: Caller, input: unknown): Promise<PetPage>;
  /** Throws IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS and API_KEY_INVALID as well. */
  create(caller: Caller, request: CreatePet): Promise<CreatedPet>;
  /** The pet with this identifier in decimal digits. Throws PET_NOT_FOUND, also if it is not an int64. */
  get(caller: Caller, id: string): Promise<Pet>;
}

export function createCatalogue(database: Pick<Database, "run">, pages: Pick<PetPages, "read">): Catalogue {
  const createOnce = createOnceIn(database);

  return {
    async list(caller, input) {
      requireScope(caller, "read");
      const range = rangeOf(validate(listPetsSchema, input, "query parameter"));
      refuseStaleKey(caller);
      return pages.read(range, "next");
    },
    async listAsConnection(caller, input) {
      requireScope(caller, "read");
      const range = rangeOf(validate(petConnectionSchema, input, "argument"));
      refuseStaleKey(caller);
      return pages.read(range, "all");
    },
    async create(caller, { input, subject = "body", idempotencyKey }) {
      requireScope(caller, "write");
      const pet = validate(newPetSchema, input, subject);
      if (idempotencyKey !== undefined && !isIdempotencyKey(idempotencyKey)) {
        throw new Problem("VALIDATION_FAILED", "idempotency key must be 1 to 255 printable ASCII characters");
      }
      refuseStaleKey(caller);
      if (idempotencyKey === undefined) {
        const [created] = await database.run(insertPet, pet);
        return { pet: created as Pet, replayed: false };
      }
      return createOnce({ accountId: caller.accountId, key: idempotencyKey, pet });
    },
    async get(caller, id) {
      requireScope(caller, "read");
      const petId = parseInt64(id);
      if (petId === undefined) throw new Problem("PET_NOT_FOUND");
      refuseStaleKey(caller);
      const [pet] = await database.run(selectPet, { id: petId });
      if (pet === undefined) throw new Problem("PET_NOT_FOUND");
      return pet;
    },
  };
}

function refuseStaleKey({ staleCause }: Caller): void {
  if (staleCause === undefined) return;
  throw databaseUnavailable(new Error("the key of the request could not be checked again", { cause: staleCause }));
}

/** Identifiers begin at 1. Throws INVALID_CURSOR. */
function rangeOf({ limit, status, cursor }: ListPets): PageRange {
  return { limit, status, after: cursor === undefined ? 0n : decodeCursor(cursor, status) };
}

function isIdempotencyKey(value: unknown): value is string {
  return typeof value === "string" && /^[\x20-\x7e]{1,255}$/.test(value);
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
