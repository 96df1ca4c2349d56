import { expect, it } from "vitest";
import { toOpenApi30 } from "./openapi-3-0.js";

const info = { title: "Pets", version: "1" };

/** The schema of a component, as 3.0 has it. */
function convert(schema: object): unknown {
  const converted = toOpenApi30({ openapi: "3.1.1", info, paths: {}, components: { schemas: { Pet: schema } } });
  return (converted as { components: { schemas: { Pet: unknown } } }).components.schemas.Pet;
}

it.each([
  ["a type", { type: "string" }, { type: "string" }],
  ["a type or null", { type: ["integer", "null"] }, { type: "integer", nullable: true }],
  ["a schema or null", { anyOf: [{ type: "string" }, { type: "null" }] }, { type: "string", nullable: true }],
  ["one value", { type: "string", const: "no-store" }, { type: "string", enum: ["no-store"] }],
  ["examples", { type: "string", examples: ["Rex", "Ada"] }, { type: "string", example: "Rex" }],
  ["bounds", { minimum: -9223372036854775808n, maximum: 1 }, { minimum: -9223372036854775808n, maximum: 1 }],
  ["exclusive bounds", { exclusiveMinimum: 0 }, { minimum: 0, exclusiveMinimum: true }],
  ["exclusive upper bounds", { exclusiveMaximum: 9n }, { maximum: 9n, exclusiveMaximum: true }],
  ["a reference", { $ref: "#/x" }, { $ref: "#/x" }],
  [
    "text beside a reference",
    { $ref: "#/x", description: "An x." },
    { allOf: [{ $ref: "#/x" }], description: "An x." },
  ],
  [
    "nested schemas",
    {
      properties: { const: { const: 1 } },
      items: { const: 2 },
      additionalProperties: { const: 3 },
      anyOf: [{ const: 4 }],
    },
    {
      properties: { const: { enum: [1] } },
      items: { enum: [2] },
      additionalProperties: { enum: [3] },
      anyOf: [{ enum: [4] }],
    },
  ],
  ["extensions", { "x-extensible-enum": ["A"] }, { "x-extensible-enum": ["A"] }],
])("writes %s as OpenAPI 3.0 does", (_what, schema, expected) => {
  expect(convert(schema)).toEqual(expected);
});

it.each([
  [{ patternProperties: {} }, "patternProperties"],
  [{ type: ["string", "integer"] }, "type string or integer"],
  [{ type: "null" }, "type null"],
  [{ anyOf: [{ $ref: "#/x" }, { type: "null" }] }, "null beside a schema without a type"],
  [{ minimum: 1, exclusiveMinimum: 1 }, "exclusiveMinimum beside minimum"],
  [{ properties: { name: { if: {} } } }, "if"],
])("refuses %j, which OpenAPI 3.0 cannot say", (schema, named) => {
  expect(() => convert(schema)).toThrow(`OpenAPI 3.0 has no ${named}`);
});

it.each([
  [{ webhooks: {} }, "webhooks"],
  [{ components: { pathItems: {} } }, "pathItems"],
  [{ paths: { "/pets": { $ref: "#/x", summary: "Pets" } } }, "keyword beside $ref at paths//pets"],
])("refuses the document %j, which OpenAPI 3.0 cannot say", (document, named) => {
  expect(() => toOpenApi30({ openapi: "3.1.1", info, ...document })).toThrow(`OpenAPI 3.0 has no ${named}`);
});

it("moves the summary and the licence, and keeps examples as they are", () => {
  const examples = { pet: { value: { const: 1n, type: ["a", "null"] } } };
  const document = {
    openapi: "3.1.1",
    info: { ...info, summary: "Short.", description: "Long.", license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: "/v1" }],
    components: { examples, headers: { Vary: { schema: { const: "Origin" }, example: { const: "Origin" } } } },
  };
  expect(toOpenApi30(document)).toEqual({
    openapi: "3.0.3",
    info: {
      ...info,
      description: "Short.\n\nLong.",
      license: { name: "MIT", url: "https://spdx.org/licenses/MIT.html" },
    },
    servers: [{ url: "/v1" }],
    components: {
      examples,
      headers: { Vary: { schema: { enum: ["Origin"] }, example: { const: "Origin" } } },
    },
  });
});
