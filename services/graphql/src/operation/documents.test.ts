import { describe, expect, it } from "vitest";
import { buildPetSchema } from "../schema/pet-resolver.js";
import { createDocuments } from "./documents.js";

const schema = buildPetSchema();

describe("documents", () => {
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
    expect(document).toMatchObject({ kind: "refused", code: "GRAPHQL_VALIDATION_FAILED" });
    expect(document.kind === "refused" && document.errors).toHaveLength(5);
  });

  it("caches 1,000 documents, and drops the least recently used one", () => {
    const { read } = createDocuments(schema);
    const text = (index: number) => `{ a${index}: pets { id } }`;
    const [first, second] = Array.from({ length: 1_000 }, (_, index) => read(text(index)));
    expect(read(text(0))).toBe(first);
    read(text(1_000));
    expect(read(text(0))).toBe(first);
    expect(read(text(1))).not.toBe(second);
  });

  it("caches about 32 MiB of large documents", () => {
    const { read } = createDocuments(schema);
    const large = (index: number) => `{ pets(cursor: "${index} ${"x".repeat(60_000)}") { id } }`;
    const first = read(large(0));
    for (let index = 1; index < 100; index++) read(large(index));
    expect(read(large(0))).toBe(first);
    for (let index = 100; index < 500; index++) read(large(index));
    expect(read(large(0))).not.toBe(first);
  });

  it("caches at most 20 documents with 20,000 comments and escapes, which use much memory", () => {
    const { read } = createDocuments(schema);
    const text = `{ pets(cursor: "${"\\n".repeat(10_000)}") { id } } ${"#\n".repeat(10_000)}`;
    const first = read(text);
    for (let index = 0; index < 20; index++) read(`${text}#${index}`);
    // Not `toBe`: Vitest cannot print such a document.
    expect(read(text) === first).toBe(false);
  });
});
