/** GraphQL documents drawn from the schema: valid operations with unusual parts, and documents that must be refused. */
import fc from "fast-check";
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isNonNullType,
  isObjectType,
} from "graphql";
import { argumentValue, type Part, plainPart } from "./graphql-arguments.js";
import { hostileString, mostly, weighted } from "./json.js";

const rootDepth = 3;

/** One operation, and the fragment that it may spread. */
export function operations(schema: GraphQLSchema): fc.Arbitrary<Part> {
  const [query, mutation, pet] = [schema.getQueryType(), schema.getMutationType(), schema.getType("Pet")];
  if (!query || !mutation || !isObjectType(pet)) throw new Error("The schema has no queries, no mutations or no pets");
  const roots = weighted<[string, Part]>(
    [20, fc.tuple(fc.constant("query"), rootSelection(query))],
    [20, fc.tuple(fc.constant("mutation"), rootSelection(mutation))],
    [1, fc.tuple(fc.constant("subscription"), rootSelection(query))],
  );
  return fc.tuple(roots, fc.constantFrom("", "", "Named"), selection(pet, 0)).map(([[type, root], name, fragment]) => {
    const isSpread = /\.\.\.part\b/.test(root.text);
    const variables = isSpread ? [...root.variables, ...fragment.variables] : root.variables;
    const declared = new Map(variables.map((variable) => [variable.name, `$${variable.name}: ${variable.type}`]));
    const head = declared.size === 0 ? "" : `(${[...declared.values()].join(", ")})`;
    const definition = isSpread ? ` fragment part on Pet ${fragment.text}` : "";
    return { text: `${type} ${name}${head} ${root.text}${definition}`, variables };
  });
}

function joined(parts: readonly Part[], separator = " "): Part {
  const texts = parts.map(({ text }) => text).filter((text) => text !== "");
  return { text: texts.join(separator), variables: parts.flatMap(({ variables }) => variables) };
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
const otherSelections = ["__typename", "...none", "nothing", "id", "toString", "__proto__", "... { __typename }"];
const strayPart = fc
  .constantFrom(spread, spread, spread, ...otherSelections, "... on Query { __typename }")
  .map(plainPart);

/** `{ ... }` with fields, fragments and selections that do not belong there. */
function selection(type: GraphQLObjectType, depth: number): fc.Arbitrary<Part> {
  const fields = Object.values(type.getFields()).filter((of) => depth > 0 || !isObjectType(getNamedType(of.type)));
  const field = fc.oneof(...fields.map((of) => fieldPart(of, depth)));
  const inFragment = fc
    .tuple(fc.constantFrom("...", `... on ${type.name}`), directive, field)
    .map(([start, by, inside]) => joined([plainPart(start), by, { ...inside, text: `{ ${inside.text} }` }]));
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
  [60, fc.constant(plainPart(""))],
  [
    1,
    fc
      .constantFrom(
        ...["@skip(if: true)", "@include(if: true)", "@skip(if: false) @include(if: true)", "@skip"],
        ...["@include(if: null)", '@include(if: "true")', "@deprecated", "@defer", "@none(a: 1)"],
        "@skip(if: true) @skip(if: false)",
      )
      .map(plainPart),
  ],
  [
    1,
    fc
      .tuple(
        fc.constantFrom("skip", "include"),
        fc.constantFrom("true", "false", "null", '"true"', "1", undefined),
        fc.constantFrom("Boolean!", "Boolean", "Boolean! = true"),
      )
      .map(([name, value, type]) => ({ text: `@${name}(if: $on)`, variables: [{ name: "on", type, value }] })),
  ],
);

const strayArguments = fc.constantFrom("colour: 1", "limit: 1, limit: 2", "__proto__: {}").map(plainPart);
const noPart = plainPart("");

function fieldPart(field: GraphQLField<unknown, unknown>, depth: number): fc.Arbitrary<Part> {
  const known = field.args.map(({ name, type, defaultValue }) => {
    const freq = isNonNullType(type) && defaultValue === undefined ? 30 : 2;
    const part = argumentValue(type, name).map(({ text, variables }) => ({ text: `${name}: ${text}`, variables }));
    return fc.option(part, { freq, nil: noPart });
  });
  return fc
    .tuple(
      alias,
      fc.tuple(...known),
      mostly(noPart, strayArguments, 2_000),
      directive,
      innerSelection(field.type, depth),
    )
    .map(([name, given, stray, by, inside]) => {
      const list = joined([...given, stray], ", ");
      const head = { ...list, text: `${name}${field.name}${list.text && `(${list.text})`}` };
      return joined([head, by, inside]);
    });
}

function innerSelection(type: GraphQLOutputType, depth: number): fc.Arbitrary<Part> {
  const named = getNamedType(type);
  if (isObjectType(named)) return selection(named, named.name === "Pet" ? 0 : Math.max(0, depth - 1));
  return mostly(noPart, fc.constant(plainPart("{ id }")), 200);
}

function repeated(min: number, max: number, write: (count: number) => string): fc.Arbitrary<string> {
  return fc.integer({ min, max }).map(write);
}

/** Documents that are invalid, circular or too large. */
export const oddDocument: fc.Arbitrary<Part> = fc
  .oneof(
    hostileString,
    fc.constantFrom(
      "{ pets { ...a } } fragment a on Pet { ...b } fragment b on Pet { ...a }",
      "{ ...a } fragment a on Query { pets { id } ...a }",
      "query A { pets { id } } query B { pets { id } }",
      "query A { pets { id } } query A { pets { id } }",
      "type Query { a: Int }",
      "{ pets(limit: 1e400) { id } }",
      "{ pets(limit: 0x1) { id } }",
      "query ($a: Int! = $b, $b: Int) { pets(limit: $a) { id } }",
      "query ($a: [[[NewPet]]]) { pets { id } }",
      "query ($a: Int, $a: Int) { pets { id } }",
      "query ($__proto__: Int) { pets(limit: $__proto__) { id } }",
      "query ($constructor: Int!) { pets(limit: $constructor) { id } }",
      "\ufeff{ pets(limit: 1) { id } }",
      "# only a comment",
      "{ pets(limit: 1) { id } } # \u0000",
      'mutation { createPet(input: {name: """\n  block\n  """, categoryId: 1}) { name } }',
      'mutation { createPet(input: {name: "\\u{110000}", categoryId: 1}) { name } }',
      'mutation { createPet(input: {name: "a", name: "b", categoryId: 1}) { name } }',
    ),
    repeated(1, 40, (count) => `{ ${Array.from({ length: count }, (_, at) => `a${at}: pets(limit: 1) { id }`)} }`),
    repeated(1, 80, (count) => `{ pets(limit: 1) { ${"id ".repeat(count)}} }`),
    repeated(1, 400, (depth) => `{ pets(limit: 1) ${"{ ... ".repeat(depth)}{ id }${" }".repeat(depth)} }`),
    repeated(1, 20_000, (depth) => "{a".repeat(depth)),
    repeated(1, 3_000, (depth) => `{ pets(status: ${"[".repeat(depth)}${"]".repeat(depth)}) { id } }`),
  )
  .map(plainPart);
