import { parseExactJson } from "./exact-json.js";
import { type Int64, toInt64 } from "./int64.js";

export type PetStatus = "available" | "pending" | "sold";

/** A pet. Its identifiers are 64-bit integers, so they are bigint: a number would round them. */
export interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

/** The input of `create`. `status` defaults to `available`. */
export interface NewPet {
  readonly name: string;
  readonly categoryId: Int64;
  readonly status?: PetStatus | undefined;
}

/** The request body as JSON. `JSON.stringify` cannot write a bigint. Throws a RangeError if `categoryId` is no int64. */
export function writeNewPet({ name, categoryId, status }: NewPet): string {
  const rest = status === undefined ? "" : `,"status":${JSON.stringify(status)}`;
  return `{"name":${JSON.stringify(name)},"categoryId":${toInt64(categoryId, "categoryId")}${rest}}`;
}

/** Throws if the text is not the JSON of a pet. */
export function readPet(text: string): Pet {
  return toPet(parseExactJson(text));
}

/** Throws if the text is not the JSON of an array of pets. */
export function readPets(text: string): Pet[] {
  const value = parseExactJson(text);
  if (!Array.isArray(value)) throw new TypeError("not an array");
  return value.map(toPet);
}

function toPet(value: unknown): Pet {
  const { id, name, categoryId, status } = value as Record<keyof Pet, unknown>;
  if (typeof name !== "string" || !isStatus(status)) throw new TypeError("not a pet");
  return { id: toInt64(id as Int64, "id"), name, categoryId: toInt64(categoryId as Int64, "categoryId"), status };
}

function isStatus(value: unknown): value is PetStatus {
  return value === "available" || value === "pending" || value === "sold";
}
