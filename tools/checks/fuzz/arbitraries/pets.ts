/** Bodies of creates with the pet that they describe, and the cursors of lists. */
import fc from "fast-check";
import { anyJson, hostileString, int64, mostly, notations, numberText, quoted, weighted } from "./json.js";

export interface NewPet {
  readonly text: string;
  /** The pet of a body whose values have the right types, so that only the name can be wrong. */
  readonly pet?: { readonly name: string; readonly categoryId: string; readonly status: string };
}

type Property = readonly [name: string, json: string];

const blank = fc.constantFrom("", "", " ", "\n\t");
const petName = fc.oneof(fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }), hostileString);
const petStatus = fc.constantFrom("available", "pending", "sold");
/** An integer in two notations. */
const categoryId = weighted(
  [6, int64.map((value) => ({ digits: `${value}`, json: `${value}` }))],
  [1, fc.constantFrom(...Object.entries(notations)).map(([json, value]) => ({ digits: `${value}`, json }))],
);

const typedPet: fc.Arbitrary<NewPet> = fc
  .record({
    name: petName,
    isEscaped: mostly(false, fc.constant(true), 9),
    categoryId,
    status: fc.option(petStatus),
    blank,
  })
  .map(({ name, isEscaped, categoryId: { digits, json }, status, blank: between }) => {
    const required: Property[] = [
      ["name", isEscaped ? escaped(name) : JSON.stringify(name)],
      ["categoryId", json],
    ];
    const properties: Property[] = status === null ? required : [...required, ["status", `"${status}"`]];
    return {
      text: objectText(properties, between),
      pet: { name, categoryId: digits, status: status ?? "available" },
    };
  });

/** With values of any type, in any order, and with missing, unknown and repeated names. */
const anyProperty: fc.Arbitrary<Property> = fc.oneof(
  fc.tuple(fc.constant("name"), weighted([5, quoted(petName)], [1, anyJson])),
  // GraphQL accepts an identifier as a string of digits.
  fc.tuple(fc.constant("categoryId"), weighted([5, numberText], [1, quoted(int64.map(String))], [1, anyJson])),
  fc.tuple(fc.constant("status"), weighted([5, quoted(petStatus)], [1, anyJson])),
  fc.tuple(mostly("id", hostileString, 1), anyJson),
);
const anyPet: fc.Arbitrary<NewPet> = fc
  .tuple(fc.array(anyProperty, { maxLength: 5 }), blank)
  .map(([properties, between]) => ({ text: objectText(properties, between) }));

export const newPet: fc.Arbitrary<NewPet> = weighted(
  [4, typedPet],
  [3, anyPet],
  [1, anyJson.map((text) => ({ text }))],
);

function objectText(properties: readonly Property[], between: string): string {
  const members = properties.map(([name, json]) => `${between}${JSON.stringify(name)}:${json}`);
  return `{${members.join(",")}${between}}`;
}

function escaped(text: string): string {
  const units = text.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `"${units.join("")}"`;
}

/**
 * The format of cursors, mostly with the current version. Pages after them lie among the first pets or behind the last
 * one, so creates at the same time do not change them.
 */
export const cursor: fc.Arbitrary<string> = fc
  .tuple(
    mostly(1, fc.constantFrom(0, 2, 255), 5),
    fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 4, 255),
    fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 30n }), fc.bigInt({ min: 2n ** 40n, max: 2n ** 63n - 1n })),
    mostly("", fc.constantFrom("=", "A", "+"), 5),
  )
  .map(([version, filter, id, tail]) => {
    const bytes = Buffer.from([version, filter, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.writeBigInt64BE(id, 2);
    return bytes.toString("base64url") + tail;
  });
