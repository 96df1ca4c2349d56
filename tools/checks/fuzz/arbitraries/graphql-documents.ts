/** GraphQL documents drawn from the schema: valid operations with unusual parts, and documents that must be refused. */
import fc from "fast-check";
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  isRequiredArgument,
} from "graphql";
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

const rootDepth = 3;
const noPart: Part = { text: "", variables: [] };

function plainPart(...texts: readonly string[]): fc.Arbitrary<Part> {
  return fc.constantFrom(...texts).map((text) => ({ text, variables: [] }));
}

function joined(parts: readonly Part[], separator = " "): Part {
  const texts = parts.map(({ text }) => text).filter((text) => text !== "");
  return { text: texts.join(separator), variables: parts.flatMap(({ variables }) => variables) };
}

/** One operation, and the fragment that it may spread. */
export function operations(schema: GraphQLSchema): fc.Arbitrary<Part> {
  const [query, mutation, pet] = [schema.getQueryType(), schema.getMutationType(), schema.getType("Pet")];
  if (!query || !mutation || !isObjectType(pet)) throw new Error("The schema has no queries, no mutations or no pets");
  const root = weighted<[string, Part]>(
    [20, fc.tuple(fc.constant("query"), rootSelection(query))],
    [20, fc.tuple(fc.constant("mutation"), rootSelection(mutation))],
    [1, fc.tuple(fc.constant("subscription"), rootSelection(query))],
  );
  return fc.tuple(root, fc.constantFrom("", "", "Named"), selection(pet, 0)).map(([[type, body], name, inFragment]) => {
    const isSpread = /\.\.\.part\b/.test(body.text);
    const variables = isSpread ? [...body.variables, ...inFragment.variables] : body.variables;
    const declared = new Map(variables.map((variable) => [variable.name, `$${variable.name}: ${variable.type}`]));
    const head = declared.size === 0 ? "" : `(${[...declared.values()].join(", ")})`;
    const fragment = isSpread ? ` fragment part on Pet ${inFragment.text}` : "";
    return { text: `${type} ${name}${head} ${body.text}${fragment}`, variables };
  });
}

const introspection = fc.constantFrom(
  "__typename",
  "__schema { queryType { name } types { name fields { name type { ofType { name } } } } }",
  '__type(name: "Pet") { name }',
  '__type(name: "__proto__") { name }',
);

function rootSelection(type: GraphQLObjectType): fc.Arbitrary<Part> {
  return fc
    .tuple(selection(type, rootDepth), mostly("", introspection, 11))
    .map(([{ text, variables }, more]) => ({ text: `${text.slice(0, -1)} ${more} }`, variables }));
}

const spread = "...part";
const strayNames = ["__typename", "...none", "nothing", "id", "toString", "__proto__", "... { __typename }"];
const strayPart = plainPart(spread, spread, spread, ...strayNames, "... on Query { __typename }");

/** `{ ... }` with fields, fragments and selections that do not belong there. */
function selection(type: GraphQLObjectType, depth: number): fc.Arbitrary<Part> {
  const fields = Object.values(type.getFields()).filter((of) => depth > 0 || !isObjectType(getNamedType(of.type)));
  const field = fc.oneof(...fields.map((of) => fieldPart(of, depth)));
  const inFragment = fc
    .tuple(plainPart("...", `... on ${type.name}`), directive, field)
    .map(([start, by, inside]) => joined([start, by, { ...inside, text: `{ ${inside.text} }` }]));
  const part = weighted([60, field], [1, strayPart], [6, inFragment]);
  return fc.array(part, { minLength: 1, maxLength: depth === rootDepth ? 3 : 5 }).map((parts) => {
    const { text, variables } = joined(parts);
    return { text: `{ ${text} }`, variables };
  });
}

const alias = weighted(
  [2, fc.constant("")],
  [3, fc.integer({ min: 0, max: 9_999 }).map((at) => `a${at}: `)],
  [1, fc.constantFrom("__proto__: ", "constructor: ", "id: ", "then: ", "data: ")],
);

const directive: fc.Arbitrary<Part> = weighted(
  [60, fc.constant(noPart)],
  [1, plainPart("@skip(if: true)", "@include(if: null)", "@skip", '@include(if: "true")', "@defer", "@none(a: 1)")],
  [1, plainPart("@skip(if: false) @include(if: true)", "@skip(if: true) @skip(if: false)", "@deprecated")],
  [
    1,
    fc
      .record({
        name: fc.constant("on"),
        type: fc.constantFrom("Boolean!", "Boolean", "Boolean! = true"),
        value: fc.constantFrom("true", "false", "null", '"true"', "1", undefined),
      })
      .map((variable) => ({ text: "@skip(if: $on)", variables: [variable] })),
  ],
);

const strayArguments = plainPart("colour: 1", "limit: 1, limit: 2", "__proto__: {}");

function fieldPart(field: GraphQLField<unknown, unknown>, depth: number): fc.Arbitrary<Part> {
  const known = field.args.map((argument) =>
    fc.option(argumentPart(argument), { freq: isRequiredArgument(argument) ? 30 : 2, nil: noPart }),
  );
  const type = getNamedType(field.type);
  const inside = isObjectType(type)
    ? selection(type, type.name === "Pet" ? 0 : Math.max(0, depth - 1))
    : mostly(noPart, plainPart("{ id }"), 200);
  return fc
    .tuple(alias, fc.tuple(...known), mostly(noPart, strayArguments, 2_000), directive, inside)
    .map(([name, given, stray, by, within]) => {
      const list = joined([...given, stray], ", ");
      return joined([{ ...list, text: `${name}${field.name}${list.text && `(${list.text})`}` }, by, within]);
    });
}

const otherTypes = fc.constantFrom("String", "ID!", "[Int!]", "NewPet", "Pet", "None!", "Boolean! = 1");
const strayLiteral = plainPart("null", "available", "[]", "{a: 1}", '"""block\n"""', "1.5", "$none", '"\\ud83d"');

/** A literal or a variable: a value that the type allows, nearly so, or another. */
function argumentPart({ name, type }: GraphQLArgument): fc.Arbitrary<Part> {
  const typeName = getNamedType(type).name;
  const value = valuesOf(typeName, name);
  const literal = value.map((json) => ({ text: inGraphql(typeName, json), variables: [] }));
  const variable = fc
    .record({
      name: fc.constantFrom(`${name}0`, `${name}1`),
      type: mostly(`${type}`, otherTypes, 60),
      value: weighted([30, value], [2, jsonText], [1, fc.constant(undefined)]),
    })
    .map((one) => ({ text: `$${one.name}`, variables: [one] }));
  return weighted<Part>([40, literal], [1, strayLiteral], [80, variable]).map((part) => ({
    ...part,
    text: `${name}: ${part.text}`,
  }));
}

/** JSON text. */
function valuesOf(typeName: string, argument: string): fc.Arbitrary<string> {
  if (typeName === "Int") return fc.oneof(fc.integer({ min: -1, max: 102 }).map(String), numberText);
  if (typeName === "PetStatus") return fc.constantFrom('"available"', '"pending"', '"sold"', '"lost"', "null");
  if (typeName === "NewPet") return newPet.map(({ text }) => text);
  const words = fc.oneof(hostileString, fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }));
  const isCursor = argument === "cursor" || argument === "after";
  return (isCursor ? fc.oneof(cursor, words) : words).map((text) => JSON.stringify(text));
}

/** JSON as a GraphQL literal: the fields of an object and the values of an enum have no quotes. */
function inGraphql(typeName: string, json: string): string {
  if (typeName === "PetStatus") return json.replaceAll('"', "");
  if (typeName !== "NewPet") return json;
  return json.replaceAll(/([{,])"(\w+)":/g, "$1 $2: ").replace(/status: "(\w+)"/, "status: $1");
}

/** Documents that are invalid or unusual. */
export const oddDocument: fc.Arbitrary<Part> = fc
  .oneof(
    hostileString,
    fc.constantFrom(
      "{ pets { ...a } } fragment a on Pet { ...b } fragment b on Pet { ...a }",
      "query A { pets { id } } query B { pets { id } }",
      "type Query { a: Int }",
      "{ pets(limit: 1e400) { id } }",
      "query ($a: Int! = $b, $b: Int) { pets(limit: $a) { id } }",
      "query ($a: Int, $a: Int) { pets { id } }",
      "query ($__proto__: Int) { pets(limit: $__proto__) { id } }",
      "\ufeff{ pets(limit: 1) { id } }",
      "# only a comment",
      "{ pets(limit: 1) { id } } # \u0000",
      'mutation { createPet(input: {name: """\n  block\n  """, categoryId: 1}) { name } }',
      'mutation { createPet(input: {name: "\\u{110000}", categoryId: 1}) { name } }',
      'mutation { createPet(input: {name: "a", name: "b", categoryId: 1}) { name } }',
    ),
  )
  .map((text) => ({ text, variables: [] }));
