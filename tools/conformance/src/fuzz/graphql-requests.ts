/** Requests to the GraphQL API, drawn from its schema: what it allows, and everything around it. */
import fc from "fast-check";
import type { GraphQLSchema } from "graphql";
import { caller, moreHeaders } from "./callers.js";
import { operations } from "./graphql-documents.js";
import type { Written } from "./graphql-values.js";
import { damaged, hostileString, jsonText } from "./hostile.js";
import { contentType, type Drawn, methods, mostly, sendable } from "./rest-requests.js";

export function graphqlRequests(schema: GraphQLSchema): fc.Arbitrary<Drawn> {
  const written = operations(schema);
  const text = fc.oneof(
    { weight: 30, arbitrary: written.chain(requestText) },
    { weight: 3, arbitrary: oddDocument.chain(requestText) },
    { weight: 1, arbitrary: oddRequest },
  );
  const posted = fc.record({
    method: mostly("POST", fc.constantFrom(...methods)),
    path: mostly(
      "/graphql",
      fc.constantFrom(
        "/graphql/",
        "/graphql?query={__typename}",
        "/GraphQL",
        "//graphql",
        "/graphql%00",
        "/graphql/__proto__",
      ),
    ),
    type: contentType.map((value): readonly [string, string][] => [["content-type", value]]),
    body: fc.oneof(
      { weight: 12, arbitrary: text.map((json) => Buffer.from(json)) },
      { weight: 1, arbitrary: damaged(text) },
    ),
  });
  const asked = fc
    .tuple(
      written,
      mostly("GET", fc.constant("HEAD")),
      fc.constantFrom(
        "",
        "&operationName=Named",
        "&variables=%7B%7D&variables=1",
        "&extensions={}",
        "&__proto__=1",
        "&%=%",
      ),
    )
    .map(([{ text: query, variables }, method, more]) => ({
      method,
      path: `/graphql?query=${encodeURIComponent(query.toWellFormed())}&variables=${encodeURIComponent(variablesText(variables).toWellFormed())}${more}`.slice(
        0,
        12_000,
      ),
      type: [] as const,
      body: undefined,
    }));
  return fc
    .record({
      caller,
      request: fc.oneof({ weight: 6, arbitrary: posted }, { weight: 1, arbitrary: asked }),
      more: moreHeaders,
    })
    .map(({ caller: by, request: { method, path, type, body }, more }) => ({
      caller: by,
      request: { api: "graphql" as const, method, path, headers: [...type, ...more], body: sendable(method, body) },
    }));
}

function variablesText(variables: Written["variables"]): string {
  const given = variables.filter(({ value }) => value !== undefined);
  return `{${given.map(({ name, value }) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
}

function requestText({ text, variables }: Written): fc.Arbitrary<string> {
  // A name that two parts use is sent once.
  const once = [...new Map(variables.map((variable) => [variable.name, variable])).values()];
  const body = `"query":${JSON.stringify(text)}`;
  const usual = `{${body}${once.length === 0 ? "" : `,"variables":${variablesText(once)}`}}`;
  return fc.oneof(
    { weight: 20, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: jsonText.map((json) => `{${body},"variables":${json}}`) },
    { weight: 1, arbitrary: jsonText.map((json) => `{${body},"operationName":${json}}`) },
    { weight: 1, arbitrary: jsonText.map((json) => `{${body},"extensions":${json}}`) },
    {
      weight: 1,
      arbitrary: fc.tuple(hostileString, jsonText).map(([name, json]) => `{${body},${JSON.stringify(name)}:${json}}`),
    },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 12 }).map((times) => `[${Array(times).fill(usual)}]`) },
  );
}

/** What is no operation, or one too large. */
const oddDocument: fc.Arbitrary<Written> = fc
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
    fc
      .integer({ min: 1, max: 40 })
      .map((times) => `{ ${Array.from({ length: times }, (_, at) => `a${at}: pets(limit: 1) { id }`).join(" ")} }`),
    fc.integer({ min: 1, max: 80 }).map((times) => `{ pets(limit: 1) { ${"id ".repeat(times)}} }`),
    fc
      .integer({ min: 1, max: 400 })
      .map((depth) => `{ pets(limit: 1) ${"{ ... ".repeat(depth)}{ id }${" }".repeat(depth)} }`),
    fc.integer({ min: 1, max: 20_000 }).map((depth) => `${"{a".repeat(depth)}`),
    fc
      .integer({ min: 1, max: 3_000 })
      .map((depth) => `{ pets(status: ${"[".repeat(depth)}${"]".repeat(depth)}) { id } }`),
  )
  .map((text) => ({ text, variables: [] }));

const oddRequest: fc.Arbitrary<string> = fc.oneof(
  jsonText,
  jsonText.map((json) => `{"query":${json}}`),
  fc.constantFrom(
    '{"query":"{ __typename }","query":"{ __typename }"}',
    '{"__proto__":{"query":"{ __typename }"}}',
    '{"id":1}',
    '{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"a"}}}',
  ),
);
