import { hash } from "node:crypto";
import { type GraphQLOutputType, getIntrospectionQuery, getNamedType, isObjectType, type Token } from "graphql";
import { expect, it } from "vitest";
import { buildPetSchema } from "../schema/pet-resolver.js";
import type { ParsedDocument } from "./document-parser.js";
import { createDocuments } from "./documents.js";

const schema = buildPetSchema();

/** Reads documents of an account, each at once. */
function openDocuments() {
  const { read, find } = createDocuments(schema);
  return {
    find,
    read: (text: string, { accountId = 1n, isPersisted = false } = {}) =>
      read({ text, accountId, isPersisted }, (parse) => parse()) as ParsedDocument,
  };
}

const { read } = openDocuments();
const sha256 = (text: string) => hash("sha256", text, "hex");
const kinds = ["{ pets { id } }", "{ pets { nothing } }", "{"];

it.each(kinds)("keeps a document from its second use, whether it is valid or refused: %s", (text) => {
  const documents = openDocuments();
  const [first, second, third] = [documents.read(text), documents.read(text), documents.read(text)];
  expect(second).not.toBe(first);
  expect(third).toBe(second);
});

it("keeps a persisted document from its first use, and finds it by its hash for every account", () => {
  const documents = openDocuments();
  const text = "{ pets { id } }";
  expect(documents.find(sha256(text))).toBeUndefined();
  const parsed = documents.read(text, { isPersisted: true });
  expect(documents.find(sha256(text))).toBe(parsed);
  expect(documents.read(text, { accountId: 2n })).toBe(parsed);
});

it("does not find a refused document by its hash", () => {
  const documents = openDocuments();
  for (const text of ["{ pets { nothing } }", "{"]) {
    documents.read(text, { isPersisted: true });
    expect(documents.find(sha256(text))).toBeUndefined();
  }
});

it("reads documents in the turns that it is given, and parses a document that waits twice only once", async () => {
  const { read } = createDocuments(schema);
  const turns: (() => void)[] = [];
  const start = () =>
    read(
      { text: "{ pets { id } }", accountId: 1n, isPersisted: true },
      (parse) => new Promise((resolve) => turns.push(() => resolve(parse()))),
    );
  const waiting = [start(), start()];
  for (const turn of turns) turn();
  const [first, second] = await Promise.all(waiting);
  expect(second).toBe(first);
  expect(start()).toBe(first);
  expect(turns).toHaveLength(2);
});

it("refuses a lone surrogate, although a valid text has the same UTF-8 bytes", () => {
  const persisted = { isPersisted: true };
  expect(read('{ pets(cursor: "\uD800") { id } }', persisted)).toMatchObject({ kind: "refused" });
  expect(read('{ pets(cursor: "\uFFFD") { id } }', persisted)).toMatchObject({ kind: "valid" });
  expect(read('{ pets(cursor: "\uD800") { id } }', persisted)).toMatchObject({ kind: "refused" });
});

it("reports at most 5 errors", () => {
  const document = read("{ pets { a b c d e f } }");
  expect(document.kind === "refused" && document.errors).toHaveLength(5);
});

it("shortens a message that repeats a long part of the document", () => {
  const document = read(`{ ${"x".repeat(30_000)} }`);
  expect(document.kind === "refused" && document.errors[0]?.message).toHaveLength(1_003);
});

it.each([
  ["a long string", (mark: number) => `{ pets(cursor: "${"x".repeat(30_000)}") { id } } #${mark}`],
  ["a long comment", (mark: number) => `{ pets { id } } #${mark}${"#".repeat(30_000)}`],
  ["many comments", (mark: number) => `{ pets { id } } #${mark}${"\n#".repeat(1_900)}`],
  ["many escapes", (mark: number) => `{ pets(cursor: "${"\\t".repeat(5_000)}") { id } } #${mark}`],
])("a flood of persisted documents with %s, of one account, displaces no document of another", (_what, write) => {
  const documents = openDocuments();
  const queries = Array.from({ length: 40 }, (_, index) => `{ pets(limit: ${index + 1}) { id } }`);
  for (const query of queries) documents.read(query, { isPersisted: true });
  const flood = { accountId: 2n, isPersisted: true };
  for (let index = 0; index < 400; index++) documents.read(write(index), flood);
  expect(queries.filter((query) => documents.find(sha256(query)) === undefined)).toEqual([]);
});

it("a flood of new documents displaces nothing, not even of the same account", () => {
  const documents = openDocuments();
  const text = "{ pets { id } }";
  const persisted = documents.read(text, { isPersisted: true });
  for (let index = 0; index < 1_200; index++) documents.read(`{ __typename } #${index}`);
  expect(documents.find(sha256(text))).toBe(persisted);
});

it("remembers first uses of other accounts during a flood of new documents", () => {
  const documents = openDocuments();
  const text = "{ pets { name } }";
  documents.read(text);
  for (let index = 0; index < 1_200; index++) documents.read(`{ __typename } #${index}`, { accountId: 2n });
  const second = documents.read(text);
  expect(documents.read(text)).toBe(second);
});

it("keeps no comments in memory", () => {
  const parsed = read(`# a\n# b\n{ # c\n pets { id } # d\n}\n# e`);
  const kinds: string[] = [];
  const { startToken } = (parsed.kind === "valid" && parsed.document.loc) || {};
  for (let token: Token | null | undefined = startToken; token; token = token.next) kinds.push(token.kind);
  expect(kinds).toEqual(["<SOF>", "{", "Name", "{", "Name", "}", "}", "<EOF>"]);
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

it.each([
  ["32768 characters", 32_768, (characters: number) => "{ pets { id } }".padEnd(characters, ",")],
  ["2000 lines", 2_000, (lines: number) => `{ pets { id } }${"\r\n".repeat(lines - 1)}`],
  ["2000 lines", 2_000, (lines: number) => `{ pets(cursor: """${"\n".repeat(lines - 1)}""") { id } }`],
  ["2000 lines", 2_000, (lines: number) => `${"#\r".repeat(lines - 1)}{ pets { id } }`],
  ["5100 backslashes", 5_100, (escapes: number) => `{ pets(cursor: "${"\\t".repeat(escapes)}") { id } }`],
])("a document may have %s, and not one more", (limit, most, of) => {
  expectValid(of(most));
  expectRefused(of(most + 1), limit, "GRAPHQL_PARSE_FAILED");
});

it("a document may create ten pets whose names have 255 escaped characters", () => {
  const name = "\\ud83d\\udc08".repeat(255);
  expectValid(
    `mutation { ${times(10, (index) => `a${index}: createPet(input: {name: "${name}", categoryId: 1}) { id }`)} }`,
  );
});

it("the operations of a document may have 512 fields and spreads, and not one more", () => {
  const of = (fields: number) =>
    `query A { ${times(256, () => "__typename")} } query B { ...F } fragment F on Query { ${times(fields - 257, () => "__typename")} }`;
  expectValid(of(512));
  expectRefused(of(513), "512 times");
});

it("a document may have 40 operations and fragments, and not one more", () => {
  const of = (definitions: number) =>
    times(definitions - 1, (index) => `query Q${index} { ...F }`).concat(" fragment F on Query { __typename }");
  expectValid(of(40));
  expectRefused(of(41), "40 operations and fragments");
});

it.each([
  "{ __typename } fragment Unused on Query { __typename }",
  "{ ...F } fragment F on Query { __typename } fragment F on Query { pets { id } }",
])("a document may have no unused fragment, and no two of one name: %s", (text) => {
  expectRefused(text, "Each fragment must be used by an operation, and have a name of its own.");
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
  (copies) => `{ pets { name ${again(copies)} } b: pets { name ${again(3)} } }`,
  (copies) =>
    `{ pets { name ${again(2)} ...F } } fragment F on Pet { ${times(copies - 2, (index) => `f${index}: name`)} }`,
  (copies) => `{ petsConnection { nodes { id } again: nodes { ${times(copies - 1, (index) => `f${index}: id`)} } } }`,
])("a root field may select fields again 3 times, with the fields inside them, and not once more: %s", (of) => {
  expectValid(of(3));
  expectRefused(of(4), "3 times");
});

it.each<(copies: number) => string>([
  (copies) => `{ __typename ${times(copies, (index) => `a${index}: __typename`)} }`,
  (copies) => `{ __schema { types { name ${times(copies, (index) => `a${index}: name`)} } } }`,
  (copies) =>
    `{ __type(name: "a") { name } b: __type(name: "b") { ${times(copies - 1, (index) => `a${index}: name`)} } }`,
])("introspection may select fields again 10 times, with the fields inside them, and not once more: %s", (of) => {
  expectValid(of(10));
  expectRefused(of(11), "10 times");
});

/** Every field of a type of the schema, of every type inside it, and the name of each of these types. */
function everythingIn(type: GraphQLOutputType): string {
  const named = getNamedType(type);
  if (!isObjectType(named)) return "";
  const fields = Object.values(named.getFields()).map((field) => `${field.name} ${everythingIn(field.type)}`);
  return `{ ${fields.join(" ")} __typename }`;
}

it("a root field may select everything there is, each field once", () => {
  const connection = schema.getQueryType()?.getFields().petsConnection?.type;
  const everything = connection === undefined ? "" : everythingIn(connection).slice(1, -1);
  expect(everything).toContain("endCursor");
  const of = (more: string) =>
    `{ ${times(10, (index) => `a${index}: petsConnection(first: 100) { ${everything} ${more} }`)} }`;
  expectValid(of(""));
  expectRefused(of("again: nodes { id }"), "22 fields");
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
