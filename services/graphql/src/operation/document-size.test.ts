// The size of a document is an estimate. Here it is compared with the heap that the document takes.
import { keptBytes } from "@petstore/harness";
import { expect, it } from "vitest";
import { buildPetSchema } from "../schema/pet-resolver.js";
import { heapBytes, parseDocument } from "./document-parser.js";
import { createDocuments } from "./documents.js";

const schema = buildPetSchema();
const documents = 100;

const repeat = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => write(i)).join(" ");
/** From bytes, like the text of a request: V8 keeps a text that was put together here in parts. */
const received = (text: string) => Buffer.from(text).toString();

it.each([
  ["a tiny document", "{pets{id}}"],
  ["duplicate fields", `{pets{${"id ".repeat(490)}}}`],
  ["many lists", `{${repeat(60, (n) => `a${n}:pets{id name categoryId status}`)}}`],
  ["nested inline fragments", `{pets{${"...on Pet{".repeat(200)}id${"}".repeat(200)}}}`],
  ["a long string", `{pets(cursor:"${"x".repeat(30_000)}"){id}}`],
  ["a long string of two bytes a character", `{pets(cursor:"${"č".repeat(30_000)}"){id}}`],
  ["a long block string", `{pets(cursor:"""${"x\n".repeat(1_900)}"""){id}}`],
  ["many escapes", `{pets(cursor:"${"\\t".repeat(5_000)}"){id}}`],
  ["many comments", `{pets{id}}${"\n#".repeat(1_900)}`],
  ["a syntax error", "{"],
  ["unknown fields with long names", `{${repeat(5, (n) => `${"f".repeat(6_000)}${n}`)}}`],
  ["errors that repeat a long operation name", `query ${"q".repeat(30_000)}{pets(limit:$a,status:$b){id}}`],
  ["a long string in many lists", `{pets(cursor:${"[".repeat(400)}"${"x".repeat(20_000)}"${"]".repeat(400)}){id}}`],
])("the size of a document is at least the heap that it takes: %s", async (_what, text) => {
  const parse = (mark: string) => parseDocument(schema, received(`${text}#${mark}`));
  const size = heapBytes(parse("first"));
  expect(await keptBytes(documents, (index) => parse(`${index}`))).toBeLessThanOrEqual(size);
});

it("a document that was a part of a longer text, such as a URL, does not hold that text", async () => {
  const { read } = createDocuments(schema);
  const readPart = (index: number) => {
    const text = received(`${"x".repeat(15_000)}{pets{id}}#${index}`).slice(15_000);
    return read({ text, accountId: 1n, isPersisted: true }, (parse) => parse());
  };
  expect(await keptBytes(documents, readPart)).toBeLessThan(9_000);
});
