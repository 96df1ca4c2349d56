/** GraphQL operations of the schema, as they are or edited, and documents that must be refused. */
import fc from "fast-check";
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  isRequiredArgument,
} from "graphql";
import { anyJson, edited, hostileString, type Member, mostly, numberText, quoted, weighted } from "./json.js";
import { cursor, newPet } from "./pets.js";

export interface Operation {
  readonly document: string;
  readonly variables: readonly Member[];
}

/** Several root fields with any arguments and fields. */
export function operations(schema: GraphQLSchema): fc.Arbitrary<Operation> {
  const [queries, mutations] = [schema.getQueryType(), schema.getMutationType()].map(fieldsOf);
  if (queries === undefined || mutations === undefined) throw new Error("The schema has no queries or no mutations");
  const usual = weighted(
    [20, operationText(["query", "query Named"], queries)],
    [20, operationText(["mutation", "mutation Named"], mutations)],
    [1, operationText(["subscription"], queries)],
  );
  // Arguments with the same name have the same type, and share a variable with this name.
  const parameters = [...queries, ...mutations].flatMap(({ args }) => args);
  const variables = fc.record({
    ...Object.fromEntries(parameters.map((argument) => [argument.name, variable(argument)])),
    on: fc.record({
      type: fc.constantFrom("Boolean!", "Boolean", "Boolean! = true"),
      value: fc.constantFrom("true", "false", "null", '"true"', "1", undefined),
    }),
  });
  return fc.tuple(weighted([3, usual], [1, edited(usual, oddPart)]), variables).map(([text, values]) => {
    const used = Object.entries(values).filter(([name]) => new RegExp(`\\$${name}\\b`).test(text));
    const declared = used.map(([name, { type }]) => `$${name}: ${type}`);
    const given = used.flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value] as const]));
    const fragment = text.includes("...part") ? " fragment part on Pet { id name }" : "";
    return {
      document: (declared.length === 0 ? text : text.replace("{", () => `(${declared.join(", ")}) {`)) + fragment,
      variables: given,
    };
  });
}

type Field = GraphQLField<unknown, unknown>;

function fieldsOf(type: GraphQLObjectType | null | undefined): Field[] {
  return Object.values(type?.getFields() ?? {});
}

function operationText(heads: readonly string[], fields: readonly Field[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...heads), fc.array(fc.oneof(...fields.map(fieldText)), { minLength: 1, maxLength: 3 }))
    .map(([head, texts]) => `${head} { ${texts.join(" ")} }`);
}

const alias = weighted(
  [2, fc.constant("")],
  [3, fc.integer({ min: 0, max: 9_999 }).map((at) => `a${at}: `)],
  [1, fc.constantFrom("__proto__: ", "constructor: ", "id: ", "then: ", "data: ")],
);

function fieldText({ name, args, type }: Field): fc.Arbitrary<string> {
  const known = args.map((argument) =>
    isRequiredArgument(argument) ? argumentText(argument) : mostly("", argumentText(argument), 1),
  );
  return fc.tuple(alias, fc.tuple(...known), selection(type)).map(([ownName, given, inside]) => {
    const list = given.filter((text) => text !== "").join(", ");
    return `${ownName}${name}${list && `(${list})`} ${inside}`;
  });
}

/** Some of the fields of the type, and some of theirs. Empty for a scalar. */
function selection(type: GraphQLOutputType): fc.Arbitrary<string> {
  const named = getNamedType(type);
  if (!isObjectType(named)) return fc.constant("");
  const fields = fieldsOf(named).map(fieldText);
  const others = fields.map((field) => mostly("", field, 1));
  return fc.tuple(fc.oneof(...fields), ...others).map((texts) => `{ ${texts.join(" ")} }`);
}

function argumentText(argument: GraphQLArgument): fc.Arbitrary<string> {
  const literal = jsonOf(argument).map((json) => inGraphql(getNamedType(argument.type).name, json));
  return weighted([1, literal], [2, fc.constant(`$${argument.name}`)]).map((text) => `${argument.name}: ${text}`);
}

const otherTypes = fc.constantFrom("String", "ID!", "[Int!]", "NewPet", "Pet", "None!", "Boolean! = 1");

function variable(argument: GraphQLArgument) {
  return fc.record({
    type: mostly(`${argument.type}`, otherTypes, 60),
    value: weighted<string | undefined>([30, jsonOf(argument)], [2, anyJson], [1, fc.constant(undefined)]),
  });
}

function jsonOf({ name, type }: GraphQLArgument): fc.Arbitrary<string> {
  switch (getNamedType(type).name) {
    case "Int":
      return fc.oneof(fc.integer({ min: -1, max: 102 }).map(String), numberText);
    case "PetStatus":
      return fc.constantFrom('"available"', '"pending"', '"sold"', '"lost"', "null");
    case "NewPet":
      return newPet.map(({ text }) => text);
    default: {
      const words = fc.oneof(hostileString, fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }));
      return quoted(name === "cursor" || name === "after" ? fc.oneof(cursor, words) : words);
    }
  }
}

/** JSON as a GraphQL literal: the fields of an object and the values of an enum have no quotes. */
function inGraphql(typeName: string, json: string): string {
  if (typeName === "PetStatus") return json.replaceAll('"', "");
  if (typeName !== "NewPet") return json;
  return json.replaceAll(/([{,])"(\w+)":/g, "$1 $2: ").replace(/status: "(\w+)"/, "status: $1");
}

/** Parts that an edit puts anywhere into an operation. */
const oddPart: fc.Arbitrary<string> = fc
  .constantFrom(
    ...["...part", "...none", "... { __typename }", "... on Pet { id }", "... on Query { __typename }", "{ id }"],
    ...["@skip(if: true)", "@include(if: null)", "@skip(if: $on)", "@include(if: true) @skip(if: false)", "@skip"],
    ...['@include(if: "true")', "@skip(if: true) @skip(if: false)", "@deprecated", "@defer", "@none(a: 1)"],
    ...["null", "[]", "{a: 1}", '"""block\n"""', "1.5", "$none", '"\\ud83d"', "colour: 1", "limit: 1", "(first: 1)"],
    ...["nothing", "id", "a:", "toString", "__proto__", "__typename", '__type(name: "Pet") { name }'],
    ...['__type(name: "__proto__") { name }', "__schema { types { fields { type { ofType { name } } } } }"],
  )
  .map((part) => ` ${part} `);

/** Documents that are invalid or unusual. */
export const oddDocument: fc.Arbitrary<string> = fc.oneof(
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
);
