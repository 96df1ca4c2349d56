import { describe, expect, it } from "vitest";
import { createDocuments } from "./documents.js";
import { buildPetSchema } from "./pet-resolver.js";

const schema = buildPetSchema();

describe("documents", () => {
  it("parses a document once, whether it is valid or refused", () => {
    const documents = createDocuments(schema);
    for (const text of ["{ pets { id } }", "{ pets { nothing } }", "{"]) {
      expect(documents.read(text)).toBe(documents.read(text));
    }
  });

  it("refuses a lone surrogate, although a valid text has the same UTF-8 bytes", () => {
    const documents = createDocuments(schema);
    expect(documents.read('{ pets(cursor: "\uD800") { id } }')).toMatchObject({ kind: "refused" });
    expect(documents.read('{ pets(cursor: "\uFFFD") { id } }')).toMatchObject({ kind: "valid" });
  });

  it("reports at most 5 errors", () => {
    const document = createDocuments(schema).read("{ pets { a b c d e f } }");
    expect(document).toMatchObject({ kind: "refused", code: "GRAPHQL_VALIDATION_FAILED" });
    expect(document.kind === "refused" && document.errors).toHaveLength(5);
  });

  it("caches 1,000 documents, and drops the least recently used one", () => {
    const documents = createDocuments(schema);
    const text = (index: number) => `{ a${index}: pets { id } }`;
    const first = documents.read(text(0));
    const second = documents.read(text(1));
    for (let index = 2; index < 1_000; index++) documents.read(text(index));
    expect(documents.read(text(0))).toBe(first);
    documents.read(text(1_000));
    expect(documents.read(text(0))).toBe(first);
    expect(documents.read(text(1))).not.toBe(second);
  });

  it("caches about 32 MiB of large documents", () => {
    const documents = createDocuments(schema);
    const large = (index: number) => `{ pets(cursor: "${index} ${"x".repeat(60_000)}") { id } }`;
    const first = documents.read(large(0));
    for (let index = 1; index < 100; index++) documents.read(large(index));
    expect(documents.read(large(0))).toBe(first);
    for (let index = 100; index < 500; index++) documents.read(large(index));
    expect(documents.read(large(99))).not.toBe(first);
    expect(documents.read(large(0))).not.toBe(first);
  });
});
