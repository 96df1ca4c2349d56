// An expensive document is refused before its validation. The limits apply to its text and to the fields that it selects.
import { type FieldNode, getIntrospectionQuery, type IntrospectionOptions, Kind, parse, print, visit } from "graphql";
import { afterAll, describe, expect, it } from "vitest";
import { errorsOf, openGraphqlStore } from "./test-store.js";

const store = await openGraphqlStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();
await store.execute(
  "insert into pets (name, category_id, status) select repeat('🐈', 255), 1, 'sold' from generate_series(1, 100)",
);

const times = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => write(index)).join(" ");
const nested = (depth: number) => `{ __type(name: "a") ${"{ ofType ".repeat(depth)}{ name }${" }".repeat(depth)} }`;

describe("a document", () => {
  it("may have 1,000 tokens, and not one more", async () => {
    const fragment = "fragment Name on Query { __typename }";
    const of = (tokens: number) =>
      `{ ${times(495, () => "...Name")} ${times(tokens - 999, () => "__typename")} } ${fragment}`;
    expect((await store.ask(of(1_000), { key })).json).toMatchObject({ data: {} });
    expect(errorsOf(await store.ask(of(1_001), { key }))).toMatchObject([
      { message: expect.stringContaining("1000 tokens"), extensions: { code: "GRAPHQL_PARSE_FAILED" } },
    ]);
  });

  it("may write a field 100 times in one place, and not once more", async () => {
    const of = (fields: number) => `{ ${times(fields, () => "pets { id }")} }`;
    expect((await store.ask(of(100), { key })).json).toMatchObject({ data: { pets: expect.any(Array) } });
    expect(errorsOf(await store.ask(of(101), { key }))).toMatchObject([
      { message: expect.stringContaining("100 times"), extensions: { code: "GRAPHQL_VALIDATION_FAILED" } },
    ]);
  });

  it("may nest 20 levels deep, and not one more", async () => {
    expect((await store.ask(nested(18), { key })).json).toEqual({ data: { __type: null }, extensions: { cost: 1 } });
    expect(errorsOf(await store.ask(nested(19), { key }))).toMatchObject([
      { message: expect.stringContaining("20 levels"), extensions: { code: "GRAPHQL_VALIDATION_FAILED" } },
    ]);
  });

  it("may select 320 fields, with fragments counted at each spread, and not one more", async () => {
    const of = (fields: number) => `{ ${times(fields / 5, (index) => `a${index}: pets { ...F }`)} } ${fragment}`;
    const fragment = "fragment F on Pet { id name categoryId status }";
    // Below the limit of the size, above the limit of the cost.
    expect(errorsOf(await store.ask(of(320), { key }))).toMatchObject([
      { extensions: { code: "OPERATION_TOO_LARGE" } },
    ]);
    expect(errorsOf(await store.ask(of(320).replace("}", "} __typename"), { key }))).toMatchObject([
      { message: expect.stringContaining("320 fields"), extensions: { code: "GRAPHQL_VALIDATION_FAILED" } },
    ]);
  });

  it("may select a field again, by another alias, 10 times below its root, and not once more", async () => {
    const again = (copies: number) => times(copies, (index) => `a${index}: name`);
    const asked: readonly ((copies: number) => string)[] = [
      (copies) => `{ pets { name ${again(copies)} } }`,
      (copies) => `{ a: pets { name ${again(5)} } b: pets { ...F } } fragment F on Pet { name ${again(copies - 5)} }`,
      (copies) => `{ petsConnection { nodes { id } ${times(copies, (index) => `n${index}: nodes { name }`)} } }`,
      (copies) => `{ __typename ${times(copies, (index) => `a${index}: __typename`)} }`,
    ];
    for (const of of asked) {
      expect((await store.ask(of(10), { key })).json).toMatchObject({ data: {} });
      expect(errorsOf(await store.ask(of(11), { key }))).toMatchObject([
        { message: expect.stringContaining("10 times"), extensions: { code: "GRAPHQL_VALIDATION_FAILED" } },
      ]);
    }
  });

  it("may rename every field it selects, and select the same as often as its fragments do", async () => {
    const renamed = `{ ${times(10, (index) => `r${index}: pets { ...F ...F key: id }`)} }
      fragment F on Pet { key: id title: name category: categoryId state: status }`;
    expect((await store.ask(renamed, { key })).json).toMatchObject({ data: {}, extensions: { cost: 10 } });
    const repeated = `{ ${times(100, () => "pets { id name }")} }`;
    expect((await store.ask(repeated, { key })).json).toMatchObject({ data: {}, extensions: { cost: 1 } });
  });

  // Each tool sends the text of graphql's getIntrospectionQuery, with its own options.
  it.each<[string, IntrospectionOptions]>([
    ["graphql-codegen and graphql-request", { descriptions: true, schemaDescription: true }],
    ["GraphiQL", { schemaDescription: true, inputValueDeprecation: true, directiveIsRepeatable: true }],
    ["Apollo's explorer", { descriptions: true, inputValueDeprecation: true, directiveIsRepeatable: true }],
    ["urql", { descriptions: false }],
    [
      "a tool with all options",
      {
        specifiedByUrl: true,
        directiveIsRepeatable: true,
        schemaDescription: true,
        inputValueDeprecation: true,
        oneOf: true,
      },
    ],
  ])("may be the introspection of %s", async (_tool, options) => {
    const query = getIntrospectionQuery(options);
    expect((await store.ask(query, { key })).json).toMatchObject({ data: { __schema: {} }, extensions: { cost: 1 } });
  });

  it("may be introspection to which a caching client has added __typename everywhere", async () => {
    const everything = { specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true } as const;
    const document = parse(getIntrospectionQuery({ ...everything, inputValueDeprecation: true, oneOf: true }));
    const typename: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: "__typename" } };
    const added = visit(document, {
      SelectionSet: (node, _key, parent) => {
        const isRoot = parent !== undefined && "operation" in parent;
        return isRoot ? undefined : { ...node, selections: [...node.selections, typename] };
      },
    });
    expect((await store.ask(print(added), { key })).json).toMatchObject({ data: { __schema: {} } });
  });

  it("may not introspect in circles", async () => {
    const query = "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }";
    expect(errorsOf(await store.ask(query, { key }))).toMatchObject([
      { extensions: { code: "GRAPHQL_VALIDATION_FAILED" } },
    ]);
  });
});

describe("no document blocks the process for 50 ms", () => {
  it.each<[string, string, "answered" | "refused"]>([
    ["97 KB of nested inline fragments", `{${"...{".repeat(19_400)}__typename${"}".repeat(19_401)}`, "refused"],
    [
      "as many nested inline fragments as there are tokens for",
      `{${"...{".repeat(330)}__typename${"}".repeat(331)}`,
      "answered",
    ],
    ["9,000 duplicate fields", `{ ${times(9_000, () => "pets")} }`, "refused"],
    ["as many duplicate fields as there are tokens for", `{ ${times(249, () => "pets { id }")} }`, "refused"],
    ["100 duplicate fields", `{ ${times(100, () => "pets { id }")} }`, "answered"],
    ["500 duplicate leaves", `{ pets { ${times(500, () => "id")} } }`, "refused"],
    ["990 duplicate leaves", `{ pets { ${times(990, () => "id")} } }`, "refused"],
    [
      "duplicates of several fields",
      `{ ${times(4, (index) => times(40, () => `p${index}: pets { id }`))} }`,
      "answered",
    ],
    [
      "fields repeated in repeated fields",
      `{ ${times(99, () => "petsConnection { edges { node { id } } }")} }`,
      "answered",
    ],
    ["fields with arguments, repeated", `{ ${times(80, () => 'pets(limit: 1, cursor: "") { id }')} }`, "answered"],
    [
      "fragments that repeat what others do",
      `{ ${times(60, (index) => `...F${index}`)} } ${times(60, (index) => `fragment F${index} on Query { pets { id name } }`)}`,
      "answered",
    ],
    ["3,000 directives", `{ __typename ${times(3_000, () => "@skip(if: false)")} }`, "refused"],
    ["as many directives as there are tokens for", `{ __typename ${times(498, () => "@a")} }`, "refused"],
    ["fields nested 5,000 deep", `${"{ a ".repeat(5_000)}${"}".repeat(5_000)}`, "refused"],
    ["a list nested 490 deep", `{ pets(cursor: ${"[".repeat(490)}${"]".repeat(490)}) { id } }`, "refused"],
    [
      "objects nested 240 deep",
      `mutation { createPet(input: ${"{a:".repeat(240)}1${"}".repeat(240)}) { id } }`,
      "refused",
    ],
    [
      "fragments that spread all those behind them",
      `{ ...F0 } ${times(26, (index) => `fragment F${index} on Query { ${times(25 - index, (next) => `...F${index + next + 1}`)} __typename }`)}`,
      "answered",
    ],
    [
      "a chain of fragments",
      `{ ...F0 } ${times(120, (index) => `fragment F${index} on Query { ...F${index + 1} }`)} fragment F120 on Query { __typename }`,
      "answered",
    ],
    ["64 KB of comments", `${"#\n".repeat(20_000)}{ __typename }`, "answered"],
    ["a string of 60 KB", `{ pets(cursor: "${"a".repeat(60_000)}") { id } }`, "answered"],
    [
      "the largest names",
      `{ ${times(10, (index) => `r${index}: petsConnection(first: 100) { edges { node { name ${index === 9 ? times(10, (copy) => `a${copy}: name`) : ""} } } nodes { name } }`)} }`,
      "answered",
    ],
    [
      "the most values",
      `{ ${times(10, (index) => `r${index}: petsConnection(first: 100) { edges { cursor __typename node { ...F } } nodes { ...F } }`)}
        } fragment F on Pet { id name categoryId status __typename }`,
      "answered",
    ],
    [
      "the most values of one field",
      `{ petsConnection(first: 100) { ${times(11, (index) => `a${index}: edges { cursor __typename node { ...F } }`)} nodes { ...F } } } fragment F on Pet { id name categoryId status __typename }`,
      "answered",
    ],
    [
      "introspection with as many fields as may be",
      `{ __schema { types { ...T a: fields { ...F } b: fields { ...F } c: fields { ...F } d: fields { ...F } } } }
        fragment T on __Type { kind name description inputFields { ...I } enumValues { name description } interfaces { ...R } possibleTypes { ...R } }
        fragment F on __Field { name description args { ...I } type { ...R } isDeprecated deprecationReason }
        fragment I on __InputValue { name description defaultValue type { ...R } }
        fragment R on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }`,
      "answered",
    ],
    [
      "the largest introspection",
      `{ __schema { types { ${times(11, (index) => `a${index}: fields { ...F }`)} } } } fragment F on __Field { name description isDeprecated deprecationReason type { name kind description ofType { name kind } } args { name type { name } } }`,
      "answered",
    ],
  ])("%s", async (_what, query, outcome) => {
    // The best of several runs, because the first one compiles code and a garbage collection may delay another. Each run has
    // its own text, because a cached document is not parsed again.
    const blockedMs = [];
    for (let attempt = 0; attempt < 8; attempt++) {
      const watch = watchEventLoop();
      const answer = await store.call("POST", "/graphql", {
        key,
        body: JSON.stringify({ query: `${query}#${attempt}` }),
      });
      blockedMs.push(watch.longestMs());
      expect("data" in (answer.json as object) ? "answered" : "refused").toBe(outcome);
    }
    expect(Math.min(...blockedMs)).toBeLessThan(50);
  });
});

/**
 * Measures the longest turn of the event loop in milliseconds of CPU time, which does not depend on other programs. It
 * includes the client, which runs in the same process.
 */
function watchEventLoop() {
  let longest = 0;
  let last = process.cpuUsage();
  const look = () => {
    const { user, system } = process.cpuUsage(last);
    longest = Math.max(longest, (user + system) / 1_000);
    last = process.cpuUsage();
  };
  const tick = () => {
    look();
    timer = setImmediate(tick);
  };
  let timer = setImmediate(tick);
  return {
    longestMs() {
      clearImmediate(timer);
      look();
      return longest;
    },
  };
}
