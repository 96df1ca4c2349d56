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
  const { Pet, NewPet, PetStatus } = describe(z.tuple([petSchema, newPetSchema])).$defs;
  return { named: { Pet, NewPet, PetStatus }, listParameters: describe(listPetsSchema).properties };
}

interface DescribedSchemas {
  readonly $defs: Readonly<Record<"Pet" | "NewPet" | "PetStatus", JsonSchema>>;
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

function describe(schema: z.ZodType): DescribedSchemas {
  // A custom check has no keyword of its own: its metadata describes it.
  const text = JSON.stringify(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
  // The bounds of int64 are added last: as bigint they stay exact, and zod knows only numbers.
  return JSON.parse(text.replaceAll("#/$defs/", "#/components/schemas/"), (_keyword, value) =>
    value?.format === "int64" ? { ...value, minimum: minInt64, maximum: maxInt64 } : value,
  );
}
