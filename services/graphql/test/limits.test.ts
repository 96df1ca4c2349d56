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
