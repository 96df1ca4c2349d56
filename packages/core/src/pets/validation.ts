/**
 * Validates the input of both APIs, with the same messages. The APIs pass int64 values as bigint, even if the client wrote
 * `1.0` or `1e3`, and `limit` as a number. A message names the field and the rule, and never repeats a value.
 */
import { z } from "zod";
import { isInt64, maxInt64, minInt64, type NewPet, type PetStatus, petStatuses } from "./pet.js";

/** The parameters of a list, with the default `limit` of the REST interface (openapi.yaml). */
export interface ListPets {
  readonly limit: number;
  readonly status?: PetStatus | undefined;
  readonly cursor?: string | undefined;
}

const maxNameLength = 255;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/;

/** The text after a field's name in a message. Exported for GraphQL, which refuses some variables itself. */
export const rules: Readonly<Record<"int64" | "limit" | "newPet" | "status" | "string", string>> = {
  int64: `must be an integer from ${minInt64} to ${maxInt64}`,
  limit: "must be an integer from 1 to 100",
  newPet: "must be a JSON object with name, categoryId and optionally status, and no other property",
  status: `must be one of ${petStatuses.join(", ")}`,
  string: "must be a string",
};

const int64: z.ZodType<bigint> = z.custom<bigint>(isInt64, { error: missingOr(rules.int64) });

const petStatus: z.ZodType<PetStatus> = z.enum(petStatuses, { error: missingOr(rules.status) });

const petName: z.ZodType<string> = z
  .string({ error: missingOr(rules.string) })
  // PostgreSQL refuses U+0000, and UTF-8 has no lone surrogates. Other control characters change how a name is displayed.
  .refine((name) => name.isWellFormed(), { error: "must be well-formed Unicode", abort: true })
  .refine((name) => !controlCharacters.test(name), { error: "must not contain control characters", abort: true })
  .refine((name) => /\P{White_Space}/u.test(name), { error: "must contain a character that is not blank", abort: true })
  .refine(isShort, `must be at most ${maxNameLength} characters long`);

export const newPetSchema: z.ZodType<NewPet> = z.strictObject(
  { name: petName, categoryId: int64, status: petStatus.default("available") },
  { error: rules.newPet },
);

const limit = z
  // An integer above 2^53 fails both `int` and `max`. `abort` stops after `int`, so the message states the rule once.
  .int({ error: rules.limit, abort: true })
  .min(1, rules.limit)
  .max(100, rules.limit)
  .default(20);
const cursor = z
  .string({ error: ({ input }) => (Array.isArray(input) ? "must be given once" : rules.string) })
  .optional();

export const listPetsSchema: z.ZodType<ListPets> = z.strictObject(
  { limit, status: petStatus.optional(), cursor },
  { error: "must be limit, status or cursor" },
);

/** The same parameters, with the names that Relay gives them in connections. */
export const petConnectionSchema: z.ZodType<ListPets> = z
  .object({ first: limit, status: petStatus.optional(), after: cursor })
  .transform(({ first, status, after }) => ({ limit: first, status, cursor: after }));

function missingOr(rule: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => (input === undefined ? "is required" : rule);
}

/** A code point has at most two code units, so a name with more than 510 code units is certainly too long. */
function isShort(name: string): boolean {
  return name.length <= 2 * maxNameLength && [...name].length <= maxNameLength;
}
