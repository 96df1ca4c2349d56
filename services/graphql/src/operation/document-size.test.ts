// The size of a document is an estimate. Here it is compared with the heap that the document takes.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { buildPetSchema } from "../schema/pet-resolver.js";
import { heapBytes, parseDocument } from "./document-parser.js";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");
const schema = buildPetSchema();

/** Enough of them to outweigh what else the process keeps meanwhile. */
const documents = 100;

const repeat = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => write(i)).join(" ");

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
])("the size of a document is at least the heap that it takes: %s", (_what, text) => {
  /** From bytes, like the text of a request: V8 keeps a text that was put together here in parts. */
  const parse = (mark: string) => parseDocument(schema, Buffer.from(`${text}#${mark}`).toString());
  const size = heapBytes(parse("first"));
  const before = heapUsed();
  const kept = Array.from({ length: documents }, (_, index) => parse(`${index}`));
  const used = heapUsed() - before;
  expect(kept).toHaveLength(documents);
  expect(used / documents).toBeLessThanOrEqual(size);
});

function heapUsed(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
