// tools/checks/browser runs whole samples against a store.
import { execFileSync } from "node:child_process";
import { createContext, runInContext } from "node:vm";
import { describeWithProgram } from "@petstore/harness";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  javaScriptBlock,
  pythonBlock,
  quoted,
  type SampleRequest,
  sampleLanguages,
  shellWord,
} from "../browser/samples.js";

const signs = [..."$", ..."'\"\\`{}()!@#%;&|<>*?~ \n\r\t", "é", "🐈", "\u2028", "\u0085", "\u0007", "\u007f"];
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(...signs), maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 12 }),
);
/** Values for one run of another program. */
const texts = fc.array(text, { minLength: 200, maxLength: 200 });

describe("every text is the same after it was read as", () => {
  it("a string or a template of JavaScript", () => {
    const context = createContext();
    fc.assert(
      fc.property(text, (value) => {
        expect(runInContext(quoted(value), context)).toBe(value);
        expect(runInContext(javaScriptBlock(value), context)).toBe(value);
      }),
      { numRuns: 2_000 },
    );
  });

  it("a word of a shell", () => {
    fc.assert(
      fc.property(texts, (values) => {
        // No argument of a program can contain this character.
        const words = values.map((value) => value.replaceAll("\0", ""));
        const script = `printf '%s\\0' ${words.map(shellWord).join(" ")}`;
        const read = execFileSync("sh", ["-eu"], { input: script, encoding: "utf8" });
        expect(read.split("\0").slice(0, -1)).toEqual(words);
      }),
      { numRuns: 10 },
    );
  });

  describeWithProgram("python3", "Python", () => {
    it("a string or a triple-quoted string of Python", () => {
      fc.assert(
        fc.property(texts, (values) => {
          const literals = values.flatMap((value) => [quoted(value), pythonBlock(value)]);
          const script = `import json\nprint(json.dumps([${literals.join(",\n")}]))`;
          const read: unknown = JSON.parse(execFileSync("python3", ["-"], { input: script, encoding: "utf8" }));
          expect(read).toEqual(values.flatMap((value) => [value, value]));
        }),
        { numRuns: 10 },
      );
    });
  });
});

const create: SampleRequest = {
  operation: "createPet",
  method: "POST",
  baseUrl: "https://petstore.example/v1",
  url: "https://petstore.example/v1/pets",
  values: {},
  headers: { "Idempotency-Key": "it's", "X-Request-Id": "1", "Content-Type": "application/json" },
  body: '{\n  "name": "Ada",\n  "categoryId": 9007199254740993\n}',
};

function sampleOf(language: string, change: Partial<SampleRequest> = {}): string {
  return sampleLanguages.find(({ name }) => name === language)?.write({ ...create, ...change }) ?? "";
}

it("writes the request as a command of curl", () => {
  expect(sampleOf("curl")).toBe(`curl -i \\
  -X POST \\
  -H "Authorization: Bearer $API_KEY" \\
  -H 'Idempotency-Key: it'\\''s' \\
  -H 'X-Request-Id: 1' \\
  -H 'Content-Type: application/json' \\
  --data-raw '{
  "name": "Ada",
  "categoryId": 9007199254740993
}' \\
  'https://petstore.example/v1/pets'`);
});

it("writes the request as a call of our client, with a bigint if a number would round", () => {
  expect(sampleOf("client")).toBe(`import { createPetStoreClient } from "@petstore/client";

const { pets } = createPetStoreClient({
  baseUrl: "https://petstore.example/v1",
  apiKey: process.env.API_KEY,
});
// The client does not send X-Request-Id.
const pet = await pets.create({
  name: "Ada",
  categoryId: 9007199254740993n,
}, {
  idempotencyKey: "it's",
});
console.log(JSON.stringify(pet));`);
});

it.each([
  ["7", "7"],
  ["-7", "-7"],
  ["9007199254740991", "9007199254740991"],
  ["9007199254740992", "9007199254740992n"],
  ["-9223372036854775808", "-9223372036854775808n"],
  ["", '""'],
  ["1e3", '"1e3"'],
  ["007", '"007"'],
])("calls pets.get for the identifier %j with %s", (petId, argument) => {
  const sample = sampleOf("client", { operation: "getPet", values: { petId }, headers: {}, body: undefined });
  expect(sample).toContain(`\nconst pet = await pets.get(${argument});\n`);
});

it.each([
  ["not JSON", "@file"],
  ["no object", "[]"],
  ["null", "null"],
  ["no name", '{"categoryId":7}'],
  ["a category in quotes", '{"name":"Rex","categoryId":"7"}'],
  ["a category that is no integer", '{"name":"Rex","categoryId":7.5}'],
  ["two categories", '{"name":"Rex","categoryId":7,"categoryId":8}'],
  ["an unknown status", '{"name":"Rex","categoryId":7,"status":"lost"}'],
  ["an unknown field", '{"name":"Rex","categoryId":7,"colour":"red"}'],
])("has no call of our client for a body with %s", (_what, body) => {
  expect(sampleOf("client", { body })).toBe("// The client sends only a valid new pet, and this body is not one.");
});

it("has no call of our client for an operation that the client does not have", () => {
  expect(sampleOf("client", { operation: "getRateLimit" })).toMatch(/^\/\/ The client has no call for this request/);
});
