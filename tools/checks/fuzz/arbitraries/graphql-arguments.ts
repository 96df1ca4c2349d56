/** Values of GraphQL arguments, as variables and as literals: what their types allow, and what they refuse. */
import fc from "fast-check";
import { type GraphQLInputType, isEnumType, isInputObjectType, isNonNullType } from "graphql";
import { hostileString, jsonText, mostly, numberText, weighted } from "./json.js";
import { cursor, newPet } from "./pets.js";

/** A part of a document, with the variables that it uses. */
export interface Part {
  readonly text: string;
  readonly variables: readonly Variable[];
}

interface Variable {
  readonly name: string;
  readonly type: string;
  /** JSON text; `undefined` when the request omits the variable. */
  readonly value: string | undefined;
}

export function plainPart(text: string): Part {
  return { text, variables: [] };
}

/** A variable or a literal. */
export function argumentValue(type: GraphQLInputType, name: string): fc.Arbitrary<Part> {
  return weighted([1, literal(type, name)], [2, variable(type, name)]);
}

function variable(type: GraphQLInputType, name: string): fc.Arbitrary<Part> {
  const value = weighted([30, jsonValue(type, name)], [2, jsonText], [1, fc.constant(undefined)]);
  const otherTypes = fc.constantFrom("String", "ID!", "[Int!]", "NewPet", "Pet", "None!", "Boolean! = 1");
  return fc.tuple(value, mostly(`${type}`, otherTypes, 60), fc.constantFrom(0, 1)).map(([json, declared, at]) => ({
    text: `$${name}${at}`,
    variables: [{ name: `${name}${at}`, type: declared, value: json }],
  }));
}

const strayLiterals = ["null", "available", "[]", "{}", "{a: 1}", '""', '"""block\n"""', "1.5", "true", "$none", "1_0"];
const strayLiteral = fc.constantFrom(...strayLiterals, '"\\u{1F408}"', '"\\ud83d"', "{name: $none}");

function literal(type: GraphQLInputType, name: string): fc.Arbitrary<Part> {
  const usual = jsonValue(type, name).map((json) => inGraphql(type, json));
  return weighted([40, usual], [1, strayLiteral]).map(plainPart);
}

function jsonValue(type: GraphQLInputType, name: string): fc.Arbitrary<string> {
  if (isNonNullType(type)) return jsonValue(type.ofType, name);
  if (isEnumType(type)) {
    return fc.constantFrom(...type.getValues().map((value) => JSON.stringify(value.name)), '"lost"', "null");
  }
  if (isInputObjectType(type)) return newPet.map(({ text }) => text);
  const strings = fc.oneof(hostileString, fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }));
  const word = strings.map((text) => JSON.stringify(text));
  if (`${type}` === "Int") return fc.oneof(fc.integer({ min: -1, max: 102 }).map(String), numberText);
  const isCursor = name === "cursor" || name === "after";
  return isCursor
    ? fc.oneof(
        cursor.map((text) => JSON.stringify(text)),
        word,
      )
    : word;
}

/** JSON as a GraphQL literal: the fields of an object and the values of an enum have no quotes. */
function inGraphql(type: GraphQLInputType, json: string): string {
  if (isNonNullType(type)) return inGraphql(type.ofType, json);
  if (isEnumType(type)) return json.replaceAll('"', "");
  if (!isInputObjectType(type)) return json;
  return json.replaceAll(/([{,])"(\w+)":/g, "$1 $2: ").replace(/status: "(\w+)"/, "status: $1");
}
