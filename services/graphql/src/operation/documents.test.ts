import { expect, it } from "vitest";
import { buildPetSchema } from "../schema/pet-resolver.js";
import { createDocuments } from "./documents.js";

const schema = buildPetSchema();

it("parses a document once, whether it is valid or refused", () => {
  const { read } = createDocuments(schema);
  for (const text of ["{ pets { id } }", "{ pets { nothing } }", "{"]) {
    expect(read(text)).toBe(read(text));
  }
});

it("refuses a lone surrogate, although a valid text has the same UTF-8 bytes", () => {
  const { read } = createDocuments(schema);
  expect(read('{ pets(cursor: "\uD800") { id } }')).toMatchObject({ kind: "refused" });
  expect(read('{ pets(cursor: "\uFFFD") { id } }')).toMatchObject({ kind: "valid" });
});

it("reports at most 5 errors", () => {
  const document = createDocuments(schema).read("{ pets { a b c d e f } }");
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
  const { read } = createDocuments(schema);
  const first = read(text);
  for (let index = 1; index < cached; index++) read(`${text}#${index}`);
  // Not `toBe`: Vitest cannot print a document with 20,000 comments.
  expect(read(text) === first).toBe(true);
  for (let index = 0; index < others; index++) read(`${text}#other ${index}`);
  expect(read(text) === first).toBe(false);
});
