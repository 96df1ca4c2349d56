// Clients generate their own checks from these schemas, so the schemas must agree with the validator.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { petJsonSchemas } from "./json-schema.js";
import { newPetSchema } from "./validation.js";

const { properties } = petJsonSchemas().named.NewPet as { properties: Record<string, { [keyword: string]: unknown }> };

describe("the JSON Schema of a pet", () => {
  it("accepts exactly the names the validator accepts", () => {
    const { minLength, maxLength, pattern } = properties.name as {
      minLength: number;
      maxLength: number;
      pattern: string;
    };
    const isDescribed = (name: string) => {
      const { length } = [...name];
      return length >= minLength && length <= maxLength && new RegExp(pattern, "u").test(name);
    };
    const isAccepted = (name: string) => newPetSchema.safeParse({ name, categoryId: 1n }).success;
    const character = fc.oneof(
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
      fc.constantFrom(
        ..."\u0000\u001f \u007f\u0080\u0085\u009f\u00a0\u00a1\u1680\u180e\u2000\u200a\u200b\u2028\u2029\u202f\u205f\u3000\ufeff",
      ),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: character, maxLength: 4 }),
          fc.string({ unit: character, minLength: 250, maxLength: 260 }),
        ),
        (name) => {
          expect(isDescribed(name)).toBe(isAccepted(name));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("has the exact limits of int64", () => {
    expect(properties.categoryId).toMatchObject({ minimum: -9223372036854775808n, maximum: 9223372036854775807n });
  });
});
