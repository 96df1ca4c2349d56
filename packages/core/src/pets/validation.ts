/**
 * The one validator of both APIs, with one wording. Integers arrive as bigint, whatever notation the client used;
 * fractions as number. A message names the field and the rule and never repeats what was sent.
 */
import { z } from "zod";
import { Problem } from "../problem.js";
import { isInt64, maxInt64, minInt64 } from "./int64.js";
import { type NewPet, type Pet, type PetStatus, petStatuses } from "./pet.js";

/** What a list may be asked for, with the contract's default for `limit`. */
export interface ListPets {
  readonly limit: number;
  readonly status?: PetStatus | undefined;
  readonly cursor?: string | undefined;
}

/** What a connection may be asked for: the same, in Relay's words. */
export interface ConnectPets {
  readonly first: number;
  readonly status?: PetStatus | undefined;
  readonly after?: string | undefined;
}

const maxNameLength = 255;

/** What a message says behind the name of a field; exported for an API that must refuse `null` before core is asked. */
export const rules: Readonly<Record<"int64" | "limit" | "newPet" | "status" | "string", string>> = {
  int64: `must be an integer from ${minInt64} to ${maxInt64}`,
  limit: "must be an integer from 1 to 100",
  newPet: "must be a JSON object with name, categoryId and optionally status, and no other property",
  status: `must be one of ${petStatuses.join(", ")}`,
  string: "must be a string",
};

const int64: z.ZodType<bigint> = z
  .custom<bigint>(isInt64, { error: missingOr(rules.int64) })
  .meta({ type: "integer", format: "int64" });

const petStatus: z.ZodType<PetStatus> = z
  .enum(petStatuses, { error: missingOr(rules.status) })
  .meta({ id: "PetStatus", description: "Where a pet stands in the store." });

const petName: z.ZodType<string> = z
  .string({ error: missingOr(rules.string) })
  .superRefine((name, context) => {
    const fault = nameFault(name);
    if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
  })
  // JSON Schema counts code points too. The pattern is what `nameFault` says of characters, in the classes every
  // dialect of regular expressions knows: no control character, and one that is not blank.
  .meta({
    description: "The pet's name, kept as it was sent: at least one character that is not blank, no control ones.",
    minLength: 1,
    maxLength: maxNameLength,
    pattern:
      "^[^\\u0000-\\u001F\\u007F-\\u009F]*" +
      "[^\\u0000-\\u0020\\u007F-\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000]" +
      "[^\\u0000-\\u001F\\u007F-\\u009F]*$",
  });

const petId = int64.meta({
  type: "integer",
  format: "int64",
  description: "Assigned by the service when the pet is added.",
});

const categoryId = int64.meta({
  type: "integer",
  format: "int64",
  description: "The category the pet belongs to: any 64-bit integer, exact to the last digit.",
});

const newStatus = petStatus
  .default("available")
  // Said in words: generators of clients make what has a default required, and `status` must be free to be left out.
  .meta({ description: "`available` unless given.", default: undefined });

export const newPetSchema: z.ZodType<NewPet> = z
  .strictObject({ name: petName, categoryId, status: newStatus }, { error: rules.newPet })
  .meta({ id: "NewPet", description: "A pet to add." });

/** What a client may rely on in an answer: the contract does not promise `status`. */
export const petSchema: z.ZodType<Omit<Pet, "status"> & { status?: PetStatus | undefined }> = z
  .object({ id: petId, name: petName, categoryId, status: petStatus.optional() })
  .meta({ id: "Pet", description: "A pet of the store." });

const limit = z
  .int(rules.limit)
  .min(1, rules.limit)
  .max(100, rules.limit)
  .default(20)
  .meta({ description: "How many pets to return at most." });
const cursor = z
  .string({ error: ({ input }) => (Array.isArray(input) ? "must be given once" : rules.string) })
  .optional()
  .meta({
    description: "Where the page begins: from the `next` link of the page before it, asked with the same status.",
  });

export const listPetsSchema: z.ZodType<ListPets> = z.strictObject(
  {
    limit,
    status: petStatus.optional().meta({ description: "Only pets with this status." }),
    cursor,
  },
  { error: "must be limit, status or cursor" },
);

export const connectPetsSchema: z.ZodType<ConnectPets> = z.strictObject(
  { first: limit, status: petStatus.optional(), after: cursor },
  { error: "must be first, status or after" },
);

/** The input as the schema types it, or VALIDATION_FAILED with every fault. `subject` names the whole in messages. */
export function validate<T>(schema: z.ZodType<T>, input: unknown, subject: string): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path, message }) => `${path.join(".") || subject} ${message}`);
  throw new Problem("VALIDATION_FAILED", faults.join("; "));
}

function missingOr(rule: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => (input === undefined ? "is required" : rule);
}

function nameFault(name: string): string | undefined {
  // PostgreSQL has no U+0000 and would store lone surrogates altered; the other controls only spoil displays and logs.
  if (!name.isWellFormed()) return "must be well-formed Unicode";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
  if (/[\u0000-\u001f\u007f-\u009f]/.test(name)) return "must not contain control characters";
  if (!/\P{White_Space}/u.test(name)) return "must contain a character that is not blank";
  // Counted only where it can matter: a name has at most two code units per code point.
  if (name.length > 2 * maxNameLength || [...name].length > maxNameLength) {
    return `must be at most ${maxNameLength} characters long`;
  }
  return undefined;
}
