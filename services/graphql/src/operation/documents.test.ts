import { getIntrospectionQuery } from "graphql";
import { expect, it } from "vitest";
import { buildPetSchema } from "../schema/pet-resolver.js";
import { createDocuments } from "./documents.js";

const schema = buildPetSchema();
const { read } = createDocuments(schema);

it("parses a document once, whether it is valid or refused", () => {
  for (const text of ["{ pets { id } }", "{ pets { nothing } }", "{"]) {
    expect(read(text)).toBe(read(text));
  }
});

it("refuses a lone surrogate, although a valid text has the same UTF-8 bytes", () => {
  expect(read('{ pets(cursor: "\uD800") { id } }')).toMatchObject({ kind: "refused" });
  expect(read('{ pets(cursor: "\uFFFD") { id } }')).toMatchObject({ kind: "valid" });
});

it("reports at most 5 errors", () => {
  const document = read("{ pets { a b c d e f } }");
  expect(document.kind === "refused" && document.errors).toHaveLength(5);
});

it.each([
  ["1,000 documents", 1_000, 1_000, "{ pets { id } }"],
  ["about 32 MiB of large documents", 100, 400, `{ pets(cursor: "${"x".repeat(60_000)}") { id } }`],
  [
    "at most 20 documents with 20,000 comments and escapes, which use much memory",
    1,
    20,
    `{ pets(cursor: "${"\\n".repeat(10_000)}") { id } } ${"#\n".repeat(10_000)}`,
  ],
])("caches %s", (_what, cached, others, text) => {
  const documents = createDocuments(schema);
  const first = documents.read(text);
  for (let index = 1; index < cached; index++) documents.read(`${text}#${index}`);
  // Not `toBe`: Vitest cannot print a document with 20,000 comments.
  expect(documents.read(text) === first).toBe(true);
  for (let index = 0; index < others; index++) documents.read(`${text}#other ${index}`);
  expect(documents.read(text) === first).toBe(false);
});

const expectValid = (query: string) => expect(read(query)).toMatchObject({ kind: "valid" });
const expectRefused = (query: string, message: string, code = "GRAPHQL_VALIDATION_FAILED") =>
  expect(read(query)).toMatchObject({
    kind: "refused",
    code,
    errors: [{ message: expect.stringContaining(message) }],
  });

it("reports the location of a syntax error", () => {
  const error = {
    message: expect.stringContaining("Syntax Error"),
    extensions: { code: "GRAPHQL_PARSE_FAILED", status: 400 },
    locations: [{ line: 3, column: 1 }],
  };
  expect(read("{\n  pets(\n")).toMatchObject({ kind: "refused", errors: [error] });
});

it.each([
  ["a field with a name almost right", "{ pets { nam } }"],
  ["an enum value almost right", "{ pets(status: avaliable) { id } }"],
  ["an unknown field of an input", 'mutation { createPet(input: {name: "a", categoryId: 1, id: 1}) { id } }'],
  ["a cycle of fragments", "{ pets { ...F } } fragment F on Pet { ...F }"],
  ["no operation", "fragment F on Pet { id }"],
])("refuses %s, and suggests no name of the schema", (_what, query) => {
  const parsed = read(query);
  expect(parsed).toMatchObject({ kind: "refused", code: "GRAPHQL_VALIDATION_FAILED" });
  // The syntax of a selection is no suggestion: it names only what the document names.
  expect(JSON.stringify(parsed).replace('Did you mean \\"pets { ... }', "")).not.toMatch(/did you mean/i);
});

const times = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => write(index)).join(" ");
const again = (copies: number) => times(copies, (index) => `a${index}: name`);
const nested = (depth: number) => `{ __type(name: "a") ${"{ ofType ".repeat(depth)}{ name }${" }".repeat(depth)} }`;

it("a document may have 1,000 tokens, and not one more", () => {
  const fragment = "fragment Name on Query { __typename }";
  const of = (tokens: number) =>
    `{ ${times(495, () => "...Name")} ${times(tokens - 999, () => "__typename")} } ${fragment}`;
  expectValid(of(1_000));
  expectRefused(of(1_001), "1000 tokens", "GRAPHQL_PARSE_FAILED");
});

it("a document may write a field 100 times in one place, and not once more", () => {
  const of = (fields: number) => `{ ${times(fields, () => "pets { id }")} }`;
  expectValid(of(100));
  expectRefused(of(101), "100 times");
  expectRefused(`{ __typename } fragment Unused on Query ${of(101)}`, "100 times");
});

it("a document may nest 20 levels deep, and not one more", () => {
  expectValid(nested(18));
  expectRefused(nested(19), "20 levels");
});

it("a document may select 320 fields, with fragments counted at each spread, and not one more", () => {
  const fragment = "fragment F on Pet { id name categoryId status }";
  const of = (fields: number) => `{ ${times(fields / 5, (index) => `a${index}: pets { ...F }`)} } ${fragment}`;
  expectValid(of(320));
  expectRefused(of(320).replace("}", "} __typename"), "320 fields");
});

it.each<(copies: number) => string>([
  (copies) => `{ pets { name ${again(copies)} } }`,
  (copies) => `{ a: pets { name ${again(5)} } b: pets { ...F } } fragment F on Pet { name ${again(copies - 5)} }`,
  (copies) => `{ petsConnection { nodes { id } ${times(copies, (index) => `n${index}: nodes { name }`)} } }`,
  (copies) => `{ __typename ${times(copies, (index) => `a${index}: __typename`)} }`,
])("a document may select a field again, by another alias, 10 times below its root, and not once more: %s", (of) => {
  expectValid(of(10));
  expectRefused(of(11), "10 times");
});

it("a document may be the introspection of any tool", () => {
  // Each tool sends the text of graphql's getIntrospectionQuery, with some of its options.
  const everything = { specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true } as const;
  expectValid(getIntrospectionQuery({ ...everything, inputValueDeprecation: true, oneOf: true }));
});

it("a document may not introspect in circles", () => {
  expectRefused(
    "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }",
    "introspection depth",
  );
});
