// A literal in a document is data: its response is the same as for a variable with this value, each time.
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { openGraphqlStore } from "./test-store.js";

const store = await openGraphqlStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();

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

interface Position {
  readonly what: string;
  /** The document with the text as a literal. */
  literal(text: string): string;
  /** The same document with the text in the variable `$text`. */
  readonly withVariable: string;
}

const quoted = (text: string) => JSON.stringify(text);
const block = (text: string) => `"""${text}"""`;
const positions: readonly Position[] = [
  ...(["cursor", "after"] as const).flatMap((argument) => {
    const field = argument === "cursor" ? "pets" : "petsConnection";
    const selection = argument === "cursor" ? "{ id }" : "{ nodes { id } }";
    return [quoted, block].map((write) => ({
      what: `${argument}, ${write === block ? "block string" : "string"}`,
      literal: (text: string) => `{ ${field}(${argument}: ${write(text)}) ${selection} }`,
      withVariable: `query ($text: String) { ${field}(${argument}: $text) ${selection} }`,
    }));
  }),
  ...[quoted, block].flatMap((write) => {
    const kind = write === block ? "block string" : "string";
    const create = (name: string, categoryId: string, idempotencyKey: string) =>
      `createPet(input: { name: ${name}, categoryId: ${categoryId} }, idempotencyKey: ${idempotencyKey}) { name categoryId }`;
    return [
      {
        what: `name, ${kind}`,
        literal: (text: string) => `mutation { ${create(write(text), "1", "null")} }`,
        withVariable: `mutation ($text: String!) { ${create("$text", "1", "null")} }`,
      },
      {
        what: `categoryId, ${kind}`,
        literal: (text: string) => `mutation { ${create('"Ada"', write(text), "null")} }`,
        withVariable: `mutation ($text: ID!) { ${create('"Ada"', "$text", "null")} }`,
      },
      {
        what: `idempotencyKey, ${kind}`,
        literal: (text: string) => `mutation { ${create('"Ada"', "1", write(text))} }`,
        withVariable: `mutation ($text: String) { ${create('"Ada"', "1", "$text")} }`,
      },
    ];
  }),
];

/** The response without error locations: they differ because the documents differ. */
function comparable(json: unknown): unknown {
  return JSON.parse(JSON.stringify(json, (name, value) => (name === "locations" ? undefined : value)));
}

describe("a hostile literal gets the response of a variable, five times, and runs no code", () => {
  beforeEach(() => store.execute("delete from idempotency_keys"));

  it.each(positions)("by POST: $what", async ({ literal, withVariable }) => {
    for (const text of hostileTexts) {
      const expected = comparable((await store.ask(withVariable, { key, variables: { text } })).json);
      for (let time = 0; time < 5; time++) {
        expect(comparable((await store.ask(literal(text), { key })).json)).toEqual(expected);
      }
    }
    expect(globalThis).not.toHaveProperty(canary);
  });

  it.each(positions.filter(({ withVariable }) => withVariable.startsWith("query")))(
    "by GET: $what",
    async ({ literal, withVariable }) => {
      for (const text of hostileTexts) {
        const get = (query: string, variables = {}) =>
          store.call("GET", `/graphql?${new URLSearchParams({ query, variables: JSON.stringify(variables) })}`, {
            key,
          });
        const expected = comparable((await get(withVariable, { text })).json);
        for (let time = 0; time < 5; time++) expect(comparable((await get(literal(text))).json)).toEqual(expected);
      }
      expect(globalThis).not.toHaveProperty(canary);
    },
  );

  it("stores a name unchanged", async () => {
    const name = hostileTexts[0];
    await store.execute("delete from pets");
    await store.ask(`mutation { createPet(input: { name: ${JSON.stringify(name)}, categoryId: 1 }) { id } }`, { key });
    expect(await store.execute("select name from pets")).toEqual([{ name }]);
  });
});

describe("an alias with the name of an object property works like any other, five times", () => {
  it.each(["__proto__", "constructor", "prototype", "hasOwnProperty", "toString"])("%s", async (alias) => {
    await store.execute("delete from pets");
    await store.execute("insert into pets (name, category_id, status) values ('Ada', 1, 'sold')");
    for (let time = 0; time < 5; time++) {
      const { text } = await store.ask(`{ ${alias}: pets { ${alias}: name status } }`, { key });
      expect(text).toBe(`{"data":{"${alias}":[{"${alias}":"Ada","status":"sold"}]},"extensions":{"cost":1}}`);
    }
  });
});
