// A literal in a document is data: its response is the same as for a variable with this value.
// tools/checks/conformance/contract sends variables.
import { beforeEach, expect, it } from "vitest";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore();
const { key } = await store.issueKey();
beforeEach(() => store.execute("delete from pets"));

/** Texts that a code generator for GraphQL once executed as code, in base64. */
const encodedTexts = [
  "X19NQUdJQ19NSU5VU19JTkZJTklUWV9fNzFkNDMxMGFfZDRhM180YTA1X2IxZmVfZTYwNzc5ZDI0OTk4",
  "X19NQUdJQ19QTFVTX0lORklOSVRZX19iYjIwMWMzOV8zMzMzXzQ2OTVfYjRhZF83ZjE3MjJlN2FhN2E=",
  "X19NQUdJQ19OQU5fXzU3ZjI4NmI5XzRjMjBfNDg3Zl9iNDA5Xzc5ODA0ZGRjYjRmOA==",
  "X19NQUdJQ19EQVRFX18zM2E5ZTc2ZF8wMmUwXzQxMjhfOGU5Ml8zNTMwYWQzZGE3NGQ=",
];
const canary = "literalWasExecuted";
const hostileTexts = encodedTexts
  .map((encoded) => Buffer.from(encoded, "base64").toString())
  .flatMap((text) => [text, `${text}(globalThis.${canary} = true)`, `${text}0),(globalThis.${canary} = true)`]);

/** The response without error locations: they differ because the documents differ. */
function comparable(json: unknown): unknown {
  return JSON.parse(JSON.stringify(json, (name, value) => (name === "locations" ? undefined : value)));
}

it.each<[position: string, type: string, document: string]>([
  ["a cursor", "String", "{ pets(cursor: $text) { id } }"],
  ["a name", "String!", "{ createPet(input: { name: $text, categoryId: 1 }) { name } }"],
  ["a categoryId", "ID!", '{ createPet(input: { name: "Ada", categoryId: $text }) { name } }'],
])("a hostile literal as %s gets the response of a variable, and runs no code", async (_at, type, document) => {
  const operation = document.includes("createPet") ? "mutation" : "query";
  for (const text of hostileTexts) {
    const { json } = await store.ask(`${operation} ($text: ${type}) ${document}`, { key, variables: { text } });
    for (const literal of [JSON.stringify(text), `"""${text}"""`]) {
      const query = `${operation} ${document.replace("$text", () => literal)}`;
      expect(comparable((await store.ask(query, { key })).json)).toEqual(comparable(json));
    }
  }
  expect(globalThis).not.toHaveProperty(canary);
});

it.each([
  ...["0", "-1", "9007199254740993", "9223372036854775807", "9223372036854775808", "1000.0", "1e3", "1.5", "true"],
  ...['"9007199254740993"', '"9223372036854775808"', '"1.5"', '"abc"', '""', '" 1"', '"01"'],
])("the categoryId %s as a literal gets the response of a variable", async (value) => {
  const field = (categoryId: string) => `createPet(input: {name: "Ada", categoryId: ${categoryId}}) { categoryId }`;
  const query = JSON.stringify(`mutation ($id: ID!) { ${field("$id")} }`);
  const body = `{"query": ${query}, "variables": {"id": ${value}}}`;
  const { json } = await store.call("POST", "/graphql", { key, body });
  expect(comparable((await store.ask(`mutation { ${field(value)} }`, { key })).json)).toEqual(comparable(json));
});

it.each(["__proto__", "constructor", "prototype", "hasOwnProperty", "toString"])(
  "the alias %s works like any other",
  async (alias) => {
    await store.execute("insert into pets (name, category_id, status) values ('Ada', 1, 'sold')");
    const { text } = await store.ask(`{ ${alias}: pets { ${alias}: name status } }`, { key });
    expect(text).toBe(`{"data":{"${alias}":[{"${alias}":"Ada","status":"sold"}]},"extensions":{"cost":1}}`);
  },
);
