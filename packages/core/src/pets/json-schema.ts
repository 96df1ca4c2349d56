/** The validation schemas as JSON Schema (draft 2020-12). The OpenAPI document has the same ones. */
import { z } from "zod";
import { maxInt64, minInt64 } from "./pet.js";
import { listPetsSchema, newPetSchema, petSchema } from "./validation.js";

/** Its integers may exceed 2^53 and are therefore bigint, on which `JSON.stringify` throws. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Named schemas, which refer to each other as OpenAPI components, and the parameters of a list. */
export function petJsonSchemas(): {
  readonly named: Readonly<Record<"Pet" | "NewPet" | "PetStatus", JsonSchema>>;
  readonly listParameters: Readonly<Record<string, JsonSchema>>;
} {
  const { Pet, NewPet, PetStatus } = record(describe(z.tuple([petSchema, newPetSchema])).$defs);
  const listParameters = Object.entries(record(describe(listPetsSchema).properties));
  return {
    named: { Pet: record(Pet), NewPet: record(NewPet), PetStatus: record(PetStatus) },
    listParameters: Object.fromEntries(listParameters.map(([name, schema]) => [name, record(schema)])),
  };
}

function describe(schema: z.ZodType): JsonSchema {
  // A custom check has no keyword of its own: its metadata describes it.
  const described = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return record(withExactBounds(described));
}

/** Adds the bounds of int64 last: as bigint they stay exact, and zod knows only numbers. Refers to OpenAPI components. */
function withExactBounds(value: unknown): unknown {
  if (typeof value === "string") return value.replace("#/$defs/", "#/components/schemas/");
  if (Array.isArray(value)) return value.map(withExactBounds);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, held]) => [name, withExactBounds(held)]);
  const bounds = "format" in value && value.format === "int64" ? { minimum: minInt64, maximum: maxInt64 } : {};
  return { ...Object.fromEntries(entries), ...bounds };
}

function record(value: unknown): JsonSchema {
  if (typeof value !== "object" || value === null) throw new TypeError("a schema is an object");
  return value as JsonSchema;
}
