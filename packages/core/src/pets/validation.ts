/**
 * The one validator of both doors, with one wording. Integers arrive as bigint, whatever notation the client used;
 * fractions as number. A message names the field and the rule and never repeats what was sent.
 */
import { z } from "zod";
import { Problem } from "../problem.js";
import { isInt64, maxInt64, minInt64 } from "./int64.js";
import { type NewPet, type PetStatus, petStatuses } from "./pet.js";

/** What a list may be asked for, with the contract's default for `limit`. */
export interface ListPets {
  readonly limit: number;
  readonly status?: PetStatus | undefined;
  readonly cursor?: string | undefined;
}

const maxNameLength = 255;

const int64: z.ZodType<bigint> = z.custom<bigint>(isInt64, {
  error: missingOr(`must be an integer from ${minInt64} to ${maxInt64}`),
});

const petStatus: z.ZodType<PetStatus> = z.enum(petStatuses, {
  error: missingOr(`must be one of ${petStatuses.join(", ")}`),
});

const petName: z.ZodType<string> = z.string({ error: missingOr("must be a string") }).superRefine((name, context) => {
  const fault = nameFault(name);
  if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
});

export const newPetSchema: z.ZodType<NewPet> = z.strictObject(
  { name: petName, categoryId: int64, status: petStatus.default("available") },
  { error: "must be a JSON object with name, categoryId and optionally status, and no other property" },
);

const limitRule = "must be an integer from 1 to 100";

export const listPetsSchema: z.ZodType<ListPets> = z.strictObject(
  {
    limit: z.int(limitRule).min(1, limitRule).max(100, limitRule).default(20),
    status: petStatus.optional(),
    cursor: z.string({ error: "must be given once" }).optional(),
  },
  { error: "must be limit, status or cursor" },
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
