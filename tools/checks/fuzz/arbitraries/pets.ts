/** Bodies of creates with the pet that they describe, and the cursors of lists. */
import fc from "fast-check";
import { anyJson, hostileString, int64, type Json, mostly, numberJson, stringJson, weighted } from "./json.js";

export interface NewPet {
  readonly text: string;
  /** The parsed body, with bigint for whole numbers; `undefined` when a name is repeated or it is not an object. */
  readonly value: Readonly<Record<string, unknown>> | undefined;
}

type Property = readonly [name: string, json: Json];

const usualName = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });
const escapedName = hostileString.map((value) => ({
  text: `"${[...Array(value.length).keys()].map((at) => `\\u${value.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`,
  value,
}));
const petName = weighted([5, stringJson(usualName)], [4, stringJson(hostileString)], [1, escapedName], [1, anyJson]);
const categoryId = weighted(
  [6, int64.map((value) => ({ text: `${value}`, value }))],
  [3, numberJson],
  // GraphQL accepts an identifier as a string of digits.
  [1, stringJson(int64.map(String))],
  [1, anyJson],
);
const status = weighted([8, stringJson(fc.constantFrom("available", "pending", "sold"))], [1, anyJson]);

const usualProperties: fc.Arbitrary<readonly Property[]> = fc
  .tuple(named("name", petName), named("categoryId", categoryId), fc.option(named("status", status)))
  .map((properties) => properties.filter((property) => property !== null));

const strayName = fc.constantFrom("id", "__proto__", "constructor", "Name", "name ", "name", "status", "categoryId");
/** In any order, with missing, unknown and repeated names. */
const anyProperties: fc.Arbitrary<readonly Property[]> = fc.array(
  fc.oneof(
    named("name", petName),
    named("categoryId", categoryId),
    named("status", status),
    fc.tuple(fc.oneof(strayName, hostileString), anyJson),
  ),
  { maxLength: 4 },
);

function named(name: string, json: fc.Arbitrary<Json>): fc.Arbitrary<Property> {
  return fc.tuple(fc.constant(name), json);
}

export const newPet: fc.Arbitrary<NewPet> = fc
  .tuple(weighted([7, usualProperties], [1, anyProperties]), fc.constantFrom("", "", " ", "\n\t"))
  .map(([properties, blank]) => {
    const names = new Set(properties.map(([name]) => name));
    const members = properties.map(([name, { text }]) => `${blank}${JSON.stringify(name)}:${text}`);
    const isUnique = names.size === properties.length;
    const value = isUnique ? Object.fromEntries(properties.map(([name, json]) => [name, json.value])) : undefined;
    return { text: `{${members.join(",")}${blank}}`, value };
  });

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
