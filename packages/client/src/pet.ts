/** A 64-bit integer as a bigint, a safe integer, or a string of decimal digits. */
export type Int64 = bigint | number | string;

export type PetStatus = "available" | "pending" | "sold";

/** The identifiers are bigint, because a number would round them. `JSON.stringify` writes them as strings of digits. */
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
  const fields: Record<keyof NewPet, string | undefined> = {
    name: JSON.stringify(name),
    categoryId: `${toInt64(categoryId, "categoryId")}`,
    status: JSON.stringify(status),
  };
  const given = Object.entries(fields).filter(([, json]) => json !== undefined);
  return `{${given.map(([field, json]) => `"${field}":${json}`).join()}}`;
}

/** Throws if the text is not the JSON of a pet. */
export function readPet(text: string): Pet {
  return toPet(parseExactJson(text));
}

/** Throws if the text is not the JSON of an array of pets. */
export function readPets(text: string): Pet[] {
  return (parseExactJson(text) as unknown[]).map(toPet);
}

/** Has every field of `Type`, optional ones too: an object literal of this type does not compile until it names each. */
export type EveryField<Type> = { readonly [Field in keyof Required<Type>]: Type[Field] };

/** Ignores properties that a newer service may add. */
function toPet(value: unknown): Pet {
  const { id, name, categoryId, status } = value as Record<keyof Pet, unknown>;
  const isStatus = status === "available" || status === "pending" || status === "sold";
  if (typeof name !== "string" || !isStatus) throw new TypeError("not a pet");
  const pet: EveryField<Pet> = {
    id: toInt64(id as Int64, "id"),
    name,
    categoryId: toInt64(categoryId as Int64, "categoryId"),
    status,
  };
  // JSON.stringify throws for a bigint. Comparisons of pets ignore `toJSON`, because it is not enumerable.
  return Object.defineProperty(pet, "toJSON", {
    value: () => ({ ...pet, id: `${pet.id}`, categoryId: `${pet.categoryId}` }),
  });
}

/** Throws a RangeError if the value is outside the range of int64, or a number that may already be rounded. */
export function toInt64(value: Int64, name: string): bigint {
  // BigInt() also accepts "", " 1 " and "0x1".
  const isInteger = typeof value === "number" ? Number.isSafeInteger(value) : /^-?\d{1,19}$/.test(`${value}`);
  if (!isInteger || BigInt.asIntN(64, BigInt(value)) !== BigInt(value)) {
    throw new RangeError(`${name} must be an int64: a bigint, a safe integer, or a string of decimal digits`);
  }
  return BigInt(value);
}

/**
 * JSON.parse rounds integers above 2^53, and in Node 20 a reviver does not get the digits. This is why long integers are put
 * in quotes before parsing. Strings are matched as a whole, so digits inside them do not change.
 */
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const longInteger = /^-?\d{16,}$/;

export function parseExactJson(text: string): unknown {
  return JSON.parse(text.replace(stringOrNumber, (token) => (longInteger.test(token) ? `"${token}"` : token)));
}
