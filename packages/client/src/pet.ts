import { parseExactJson } from "./exact-json.js";
import { type Int64, toInt64 } from "./int64.js";

export type PetStatus = "available" | "pending" | "sold";

/** The contract's Animal. Its identifiers are int64: bigint, so that none is rounded. */
export interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

/** The contract's New animal. Without a status the service stores `available`. */
export interface NewPet {
  readonly name: string;
  readonly categoryId: Int64;
  readonly status?: PetStatus | undefined;
}

/** The request body, digit for digit, which `JSON.stringify` cannot write. Throws a RangeError for no int64. */
export function writeNewPet({ name, categoryId, status }: NewPet): string {
  const rest = status === undefined ? "" : `,"status":${JSON.stringify(status)}`;
  return `{"name":${JSON.stringify(name)},"categoryId":${toInt64(categoryId, "categoryId")}${rest}}`;
}

/** Throws where the text is not the JSON of an animal. */
export function readPet(text: string): Pet {
  return toPet(parseExactJson(text));
}

/** Throws where the text is not the JSON of an array of animals. */
export function readPets(text: string): Pet[] {
  const value = parseExactJson(text);
  if (!Array.isArray(value)) throw new TypeError("not an array");
  return value.map(toPet);
}

function toPet(value: unknown): Pet {
  const { id, name, categoryId, status } = value as Record<keyof Pet, unknown>;
  if (typeof name !== "string" || !isStatus(status)) throw new TypeError("not an animal");
  return { id: toInt64(id as Int64, "id"), name, categoryId: toInt64(categoryId as Int64, "categoryId"), status };
}

function isStatus(value: unknown): value is PetStatus {
  return value === "available" || value === "pending" || value === "sold";
}
