// Clients generate code from the schemas of the OpenAPI document, so the schemas must agree with the validation.
import { readFileSync } from "node:fs";
import { listPetsSchema, maxInt64, minInt64, newPetSchema, type Pet, petStatuses } from "@petstore/core";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

const text = readFileSync(new URL("../openapi.yaml", import.meta.url), "utf8");
/** Only the bounds of int64 stay bigint. */
const toNumber = (_name: unknown, value: unknown) =>
  typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value;
const { paths, components } = parse(text, toNumber, { intAsBigInt: true });
const { Pet: pet, NewPet: newPet, PetStatus: petStatus } = components.schemas;

describe("the schemas of the OpenAPI document", () => {
  it("describe the fields of a pet", () => {
    const int64 = { type: "integer", format: "int64", minimum: minInt64, maximum: maxInt64 };
    const status = { $ref: "#/components/schemas/PetStatus" };
    const fields = { id: int64, name: { type: "string" }, categoryId: int64, status } satisfies Record<
      keyof Pet,
      object
    >;
    expect(pet.properties).toMatchObject(fields);
    // The contract does not promise `status`.
    expect(pet.required).toEqual(["id", "name", "categoryId"]);
    expect(petStatus.enum).toEqual(petStatuses);
  });

  it("allow exactly the fields of a new pet", () => {
    const { properties, required, additionalProperties } = describeInput(newPetSchema);
    expect(newPet).toMatchObject({ required, additionalProperties });
    expect(Object.keys(newPet.properties)).toEqual(Object.keys(properties ?? {}));
    expect(newPet.properties.name).toEqual(pet.properties.name);
    expect(newPet.properties.categoryId).toEqual(pet.properties.categoryId);
  });

  it("accept exactly the names that are valid", () => {
    const { minLength, maxLength, pattern } = newPet.properties.name;
    const described = new RegExp(pattern, "u");
    const differs = (name: string) => {
      const { length } = [...name];
      const isDescribed = length >= minLength && length <= maxLength && described.test(name);
      return isDescribed !== newPetSchema.safeParse({ name, categoryId: 1n }).success;
    };
    const characters = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code));
    const names = characters.filter((character) => character.isWellFormed());
    const lengths = [0, 254, 255, 256].flatMap((length) => ["a".repeat(length), "🐈".repeat(length)]);
    expect([...names, ...names.map((name) => ` a${name}`), ...lengths].filter(differs)).toEqual([]);
  });

  it("describe the parameters of a list", () => {
    const { limit, status, cursor } = describeInput(listPetsSchema).properties ?? {};
    const parameters: readonly { readonly in: string; readonly name: string; readonly schema: object }[] =
      paths["/pets"].get.parameters;
    const query = parameters.filter((parameter) => parameter.in === "query").map(({ name, schema }) => [name, schema]);
    expect(Object.fromEntries(query)).toEqual({ limit, status: { $ref: "#/components/schemas/PetStatus" }, cursor });
    expect(status).toMatchObject({ enum: petStatuses });
  });
});

function describeInput(schema: z.ZodType): z.core.JSONSchema.ObjectSchema {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as z.core.JSONSchema.ObjectSchema;
}
