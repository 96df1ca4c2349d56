// An expensive document is refused before its validation. The limits apply to its text and to the fields that it selects.
import { getIntrospectionQuery } from "graphql";
import { describe, expect, it } from "vitest";
import { errorsOf, openSharedStore } from "./test-store.js";

const store = await openSharedStore();
const { key } = await store.issueKey();

const isAdmitted = async (query: string) => expect((await store.ask(query, { key })).json).toMatchObject({ data: {} });
const isRefused = async (query: string, message = "", code = "GRAPHQL_VALIDATION_FAILED") =>
  expect(errorsOf(await store.ask(query, { key }))).toMatchObject([
    { message: expect.stringContaining(message), extensions: { code } },
  ]);

const times = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => write(index)).join(" ");
const again = (copies: number) => times(copies, (index) => `a${index}: name`);
const nested = (depth: number) => `{ __type(name: "a") ${"{ ofType ".repeat(depth)}{ name }${" }".repeat(depth)} }`;

describe("a document", () => {
  it("may have 1,000 tokens, and not one more", async () => {
    const fragment = "fragment Name on Query { __typename }";
    const of = (tokens: number) =>
      `{ ${times(495, () => "...Name")} ${times(tokens - 999, () => "__typename")} } ${fragment}`;
    await isAdmitted(of(1_000));
    await isRefused(of(1_001), "1000 tokens", "GRAPHQL_PARSE_FAILED");
  });

  it("may write a field 100 times in one place, and not once more", async () => {
    const of = (fields: number) => `{ ${times(fields, () => "pets { id }")} }`;
    await isAdmitted(of(100));
    await isRefused(of(101), "100 times");
    await isRefused(`{ __typename } fragment Unused on Query ${of(101)}`, "100 times");
  });

  it("may nest 20 levels deep, and not one more", async () => {
    await isAdmitted(nested(18));
    await isRefused(nested(19), "20 levels");
  });

  it("may select 320 fields, with fragments counted at each spread, and not one more", async () => {
    const fragment = "fragment F on Pet { id name categoryId status }";
    const of = (fields: number) => `{ ${times(fields / 5, (index) => `a${index}: pets { ...F }`)} } ${fragment}`;
    // Below the limit of the size, above the limit of the cost.
    await isRefused(of(320), "", "OPERATION_TOO_LARGE");
    await isRefused(of(320).replace("}", "} __typename"), "320 fields");
  });

  it.each<(copies: number) => string>([
    (copies) => `{ pets { name ${again(copies)} } }`,
    (copies) => `{ a: pets { name ${again(5)} } b: pets { ...F } } fragment F on Pet { name ${again(copies - 5)} }`,
    (copies) => `{ petsConnection { nodes { id } ${times(copies, (index) => `n${index}: nodes { name }`)} } }`,
    (copies) => `{ __typename ${times(copies, (index) => `a${index}: __typename`)} }`,
  ])("may select a field again, by another alias, 10 times below its root, and not once more: %s", async (of) => {
    await isAdmitted(of(10));
    await isRefused(of(11), "10 times");
  });

  it("may be the introspection of any tool", async () => {
    // Each tool sends the text of graphql's getIntrospectionQuery, with some of its options.
    const everything = { specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true } as const;
    await isAdmitted(getIntrospectionQuery({ ...everything, inputValueDeprecation: true, oneOf: true }));
  });

  it("may not introspect in circles", async () => {
    await isRefused("{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }");
  });
});
