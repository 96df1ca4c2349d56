/** Values for arguments, as variables and as literals: what their types take, and what they do not. */
import fc from "fast-check";
import { type GraphQLInputType, isEnumType, isInputObjectType, isListType, isNonNullType } from "graphql";
import { cursorText } from "./cursor-text.js";
import { hostileString, jsonText, numberText } from "./hostile.js";

/** A part of a document, with the variables it uses. */
export interface Written {
  readonly text: string;
  readonly variables: readonly Variable[];
}

interface Variable {
  readonly name: string;
  readonly type: string;
  /** JSON text; absent when it is left out. */
  readonly value: string | undefined;
}

/** A variable in place of a value, mostly of the type it should have. */
export function variable(type: GraphQLInputType, name: string): fc.Arbitrary<Written> {
  const value = fc.oneof(
    { weight: 30, arbitrary: jsonValue(type, name) },
    { weight: 2, arbitrary: jsonText },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
  const types = fc.oneof(
    { weight: 60, arbitrary: fc.constant(`${type}`) },
    { weight: 1, arbitrary: fc.constantFrom("String", "ID!", "[Int!]", "NewPet", "Pet", "None!", "Boolean! = 1") },
  );
  return fc.tuple(value, types, fc.integer({ min: 0, max: 1 })).map(([of, declared, at]) => ({
    text: `$${name}${at}`,
    variables: [{ name: `${name}${at}`, type: declared, value: of }],
  }));
}

/** JSON text that the type takes, or its values do not. */
function jsonValue(type: GraphQLInputType, name: string): fc.Arbitrary<string> {
  if (isNonNullType(type)) return jsonValue(type.ofType, name);
  if (isListType(type)) return fc.array(jsonValue(type.ofType, name), { maxLength: 3 }).map((items) => `[${items}]`);
  if (isEnumType(type))
    return fc.constantFrom(...type.getValues().map((value) => JSON.stringify(value.name)), '"lost"', "null");
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields());
    const values = fc.tuple(
      ...fields.map((field) => fc.option(jsonValue(field.type, field.name), { freq: 12, nil: undefined })),
    );
    return values.map(
      (given) =>
        `{${fields.flatMap((field, at) => (given[at] === undefined ? [] : [`${JSON.stringify(field.name)}:${given[at]}`]))}}`,
    );
  }
  return scalarText(type.name, name);
}

function scalarText(type: string, name: string): fc.Arbitrary<string> {
  const word = fc
    .oneof(hostileString, fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }))
    .map((text) => JSON.stringify(text));
  switch (type) {
    case "Int":
      return fc.oneof(fc.integer({ min: -1, max: 102 }).map(String), numberText);
    case "ID":
      return fc.oneof(
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).chain((id) => fc.constantFrom(`${id}`, `"${id}"`)),
        numberText,
        word,
      );
    default:
      return name === "cursor" || name === "after"
        ? fc.oneof(
            cursorText.map((text) => JSON.stringify(text)),
            word,
          )
        : word;
  }
}

/** The same in GraphQL's own notation, with what only it has. */
export function literal(type: GraphQLInputType, name: string): fc.Arbitrary<Written> {
  const written = jsonValue(type, name).map(inGraphql(type));
  const stray = fc.constantFrom(
    "null",
    "available",
    "[]",
    "{}",
    "{a: 1}",
    '""',
    '"""block\n"""',
    "1.5",
    "true",
    "$none",
    "1_0",
    '"\\u{1F408}"',
    '"\\ud83d"',
    "{name: $none}",
  );
  return fc
    .oneof({ weight: 40, arbitrary: written }, { weight: 1, arbitrary: stray })
    .map((text) => ({ text, variables: [] }));
}

/** Names of an object's fields and values of an enum lose their quotes. */
function inGraphql(type: GraphQLInputType): (json: string) => string {
  if (isNonNullType(type)) return inGraphql(type.ofType);
  if (isEnumType(type)) return (json) => json.replaceAll('"', "");
  if (isInputObjectType(type))
    return (json) => json.replaceAll(/([{,])"(\w+)":/g, "$1 $2: ").replace(/status: "(\w+)"/, "status: $1");
  return (json) => json;
}
