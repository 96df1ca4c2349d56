/** Defines a pet, and the 64-bit integers that identify pets and categories. */

/** `PetStatus` of the REST interface (openapi.yaml): exactly these values. */
export const petStatuses = ["available", "pending", "sold"] as const;
export type PetStatus = (typeof petStatuses)[number];

/** The schema `Pet`. Identifiers are int64 and therefore bigint: a number would round them. */
export interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

/** The schema `NewPet`, with the default status filled in. */
export type NewPet = Omit<Pet, "id">;

/**
 * Equals `Type` if the union `Named` contains the name of every field of `Type`. Use it as the type of a destructured
 * parameter: if a field is added to `Type`, the function does not compile until it names that field.
 */
export type AllFields<Type, Named extends keyof Type> = [keyof Type] extends [Named]
  ? Type
  : { readonly missing: Exclude<keyof Type, Named> };

export const minInt64: bigint = -(2n ** 63n);
export const maxInt64: bigint = 2n ** 63n - 1n;

export function isInt64(value: unknown): value is bigint {
  return typeof value === "bigint" && value >= minInt64 && value <= maxInt64;
}

/** Reads a decimal identifier without leading zeros, perhaps negative; `undefined` for any other text. */
export function parseInt64(text: string): bigint | undefined {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return undefined;
  const value = BigInt(text);
  return isInt64(value) ? value : undefined;
}
