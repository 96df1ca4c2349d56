/** GraphQL operations drawn from a schema: valid ones, with what the language offers to write them in odd ways. */
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
import { literal, variable, type Written } from "./graphql-values.js";

/** An operation, and the fragments it may spread. */
export function operations(schema: GraphQLSchema): fc.Arbitrary<Written> {
  const query = schema.getQueryType();
  const mutation = schema.getMutationType();
  if (!query || !mutation) throw new Error("the schema has no queries or no mutations");
  const roots = fc.oneof(
    { weight: 20, arbitrary: rootSelection(query).map((set) => ["query", set] as const) },
    { weight: 20, arbitrary: rootSelection(mutation).map((set) => ["mutation", set] as const) },
    { weight: 1, arbitrary: rootSelection(query).map((set) => ["subscription", set] as const) },
  );
  return fc
    .tuple(roots, fc.constantFrom("", "", "Named"), selection(petOf(schema), 0))
    .map(([[type, set], name, fragment]) => {
      const isSpread = /\.\.\.part\b/.test(set.text);
      const variables = isSpread ? [...set.variables, ...fragment.variables] : set.variables;
      const declared = new Map(variables.map((variable) => [variable.name, variable.type]));
      const head = [...declared].map(([variable, of]) => `$${variable}: ${of}`).join(", ");
      const spread = !isSpread ? "" : ` fragment part on Pet ${fragment.text}`;
      return { text: `${type} ${name}${head && `(${head})`} ${set.text}${spread}`, variables };
    });
}

function petOf(schema: GraphQLSchema): GraphQLObjectType {
  const pet = schema.getType("Pet");
  if (!isObjectType(pet)) throw new Error("the schema has no pets");
  return pet;
}

const nothing: Written = { text: "", variables: [] };

function joined(parts: readonly Written[], separator: string): Written {
  return {
    text: parts.map(({ text }) => text).join(separator),
    variables: parts.flatMap(({ variables }) => variables),
  };
}

const introspection = fc.constantFrom(
  "__typename",
  "__schema { queryType { name } types { name fields { name type { ofType { name } } } } }",
  '__type(name: "Pet") { name }',
  '__type(name: "__proto__") { name }',
);

function rootSelection(type: GraphQLObjectType): fc.Arbitrary<Written> {
  const own = selection(type, 3);
  return fc
    .tuple(own, fc.option(introspection, { freq: 12, nil: undefined }))
    .map(([set, more]) => (more === undefined ? set : { ...set, text: `${set.text.slice(0, -1)} ${more} }` }));
}

/** `{ ... }` of fields, fragments and what does not belong there. */
function selection(type: GraphQLObjectType, depth: number): fc.Arbitrary<Written> {
  const fields = Object.values(type.getFields()).filter((of) => depth > 0 || !isObjectType(getNamedType(of.type)));
  const field = fc.oneof(...fields.map((of) => writtenField(of, depth)));
  const stray = fc
    .constantFrom(
      "__typename",
      "...part",
      "...part",
      "...part",
      "...none",
      "nothing",
      "id",
      "toString",
      "__proto__",
      `... on Query { __typename }`,
      "... { __typename }",
    )
    .map((text): Written => ({ text, variables: [] }));
  const inFragment = fc
    .tuple(field, fc.constantFrom("", ` on ${type.name}`), directive)
    .map(([inside, on, by]) =>
      joined([{ text: `...${on}`, variables: [] }, by, { ...inside, text: `{ ${inside.text} }` }], " "),
    );
  const part = fc.oneof(
    { weight: 60, arbitrary: field },
    { weight: 1, arbitrary: stray },
    { weight: 6, arbitrary: inFragment },
  );
  return fc.array(part, { minLength: 1, maxLength: depth === 3 ? 3 : 5 }).map((parts) => {
    const { text, variables } = joined(parts, " ");
    return { text: `{ ${text} }`, variables };
  });
}

const aliases = fc.oneof(
  { weight: 2, arbitrary: fc.constant("") },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 9_999 }).map((at) => `a${at}: `) },
  { weight: 1, arbitrary: fc.constantFrom("__proto__: ", "constructor: ", "id: ", "then: ", "data: ") },
);

const directive: fc.Arbitrary<Written> = fc.oneof(
  { weight: 60, arbitrary: fc.constant(nothing) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(
        "@skip(if: true)",
        "@include(if: true)",
        "@skip(if: false) @include(if: true)",
        "@skip",
        "@include(if: null)",
        '@include(if: "true")',
        "@deprecated",
        "@defer",
        "@none(a: 1)",
        "@skip(if: true) @skip(if: false)",
      )
      .map((text) => ({ text, variables: [] })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom("skip", "include"),
        fc.constantFrom("true", "false", "null", '"true"', "1", undefined),
        fc.constantFrom("Boolean!", "Boolean", "Boolean! = true"),
      )
      .map(([name, value, type]) => ({ text: `@${name}(if: $on)`, variables: [{ name: "on", type, value }] })),
  },
);

function writtenField(field: GraphQLField<unknown, unknown>, depth: number): fc.Arbitrary<Written> {
  const given = field.args.map((argument) => {
    const value = fc.oneof(
      { weight: 1, arbitrary: literal(argument.type, argument.name) },
      { weight: 2, arbitrary: variable(argument.type, argument.name) },
    );
    const written = value.map((of): Written => ({ ...of, text: `${argument.name}: ${of.text}` }));
    return fc.option(written, {
      freq: isNonNullType(argument.type) && argument.defaultValue === undefined ? 30 : 2,
      nil: undefined,
    });
  });
  const stray = fc.option(fc.constantFrom("colour: 1", "limit: 1, limit: 2", "__proto__: {}"), {
    freq: 30,
    nil: undefined,
  });
  const noted = stray.map((text) => (text === undefined ? "" : text));
  const inner: fc.Arbitrary<Written> = innerSelection(field.type, depth);
  return fc
    .tuple(aliases, fc.tuple(...given), rare(noted), directive, inner)
    .map(([alias, args, extra, by, inside]) => {
      const said = joined(
        args.filter((one): one is Written => one !== undefined),
        ", ",
      );
      const list = [said.text, extra].filter((text) => text !== "").join(", ");
      return {
        text: [`${alias}${field.name}${list && `(${list})`}`, by.text, inside.text]
          .filter((text) => text !== "")
          .join(" "),
        variables: [...said.variables, ...by.variables, ...inside.variables],
      };
    });
}

function rare(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof({ weight: 80, arbitrary: fc.constant("") }, { weight: 1, arbitrary: text });
}

function innerSelection(type: GraphQLOutputType, depth: number): fc.Arbitrary<Written> {
  const named = getNamedType(type);
  const left = named.name === "Pet" ? 0 : depth - 1;
  if (isObjectType(named)) return selection(named, Math.max(0, left));
  return fc.oneof(
    { weight: 200, arbitrary: fc.constant(nothing) },
    { weight: 1, arbitrary: fc.constant({ text: "{ id }", variables: [] }) },
  );
}
