import { afterAll, describe, expect, it } from "vitest";
import { openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();

const create = (jsonName: string) =>
  store.call("POST", "/v1/pets", { key, body: `{"name":${jsonName},"categoryId":1}` });

const cat = "\u{1f408}";

describe("a name is stored byte for byte", () => {
  it.each([
    ["one letter", "A"],
    ["a composed accent (NFC)", "Zo\u00eb"],
    ["a combining accent (NFD)", "Zoe\u0308"],
    ["a ligature and a compatibility form", "\ufb01 \u2460 \uff21"],
    ["spaces before and after", "  Ada  "],
    ["two spaces within", "Ada  Lovelace"],
    ["a no-break space after", "Ada\u00a0"],
    ["letters from right to left", "\u05de\u05d9\u05e6\u05d9"],
    ["a family of four code points and three joiners", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}"],
    ["a byte order mark first", "\ufeffAda"],
    ["quotes, backslash, markup and SQL", `"\\'; drop table pets; -- <b>&amp;</b>`],
    ["a line separator, which is no control character", "a\u2028b"],
    ["the last code points", "\uffff\u{10ffff}"],
    ["the first code points beyond the control characters", " !~\u00a0"],
    ["255 letters", "a".repeat(255)],
    ["255 code points beyond U+FFFF", cat.repeat(255)],
    ["the name of a property", "__proto__"],
  ])("%s", async (_what, name) => {
    const created = await create(JSON.stringify(name));
    expect(created.status).toBe(201);
    const { id } = created.json as { id: number };
    const found = await store.call("GET", `/v1/pets/${id}`, { key });
    expect([created, found].map(({ json }) => (json as { name: string }).name)).toEqual([name, name]);
  });

  it("as two escapes for a surrogate pair", async () => {
    expect(await create('"\\ud83d\\udc08"')).toMatchObject({ status: 201, json: { name: cat } });
  });
});

describe("a name has 1 to 255 code points", () => {
  it.each([
    ["256 letters", "a".repeat(256)],
    ["256 code points beyond U+FFFF", cat.repeat(256)],
    ["255 code points beyond U+FFFF and a letter", `${cat.repeat(255)}a`],
    ["60,000 letters", "a".repeat(60_000)],
  ])("refuses %s", async (_what, name) => {
    expect(await create(JSON.stringify(name))).toMatchObject(refused("name must be at most 255 characters long"));
  });
});

describe("a name has at least one character that is not blank", () => {
  it.each([
    ["nothing", ""],
    ["a space", " "],
    ["255 spaces", " ".repeat(255)],
    ["no-break spaces", "\u00a0\u202f"],
    ["an ideographic space", "\u3000"],
    ["line and paragraph separators", "\u2028\u2029"],
    ["every other blank", "\u1680\u2000\u2005\u200a\u205f"],
  ])("refuses %s", async (_what, name) => {
    expect(await create(JSON.stringify(name))).toMatchObject(
      refused("name must contain a character that is not blank"),
    );
  });
});

describe("a name has no control characters", () => {
  it.each([
    "\\u0000",
    "\\u0001",
    "\\t",
    "\\n",
    "\\r",
    "\\u001b",
    "\\u001f",
    "\\u007f",
    "\\u0080",
    "\\u0085",
    "\\u009f",
  ])("refuses %s", async (escaped) => {
    expect(await create(`"Ada${escaped}"`)).toMatchObject(refused("name must not contain control characters"));
  });

  it.each(["\u007f", "\u0085"])("refuses %j unescaped", async (character) => {
    expect(await create(`"Ada${character}"`)).toMatchObject(refused("name must not contain control characters"));
  });
});

describe("a name is well-formed Unicode", () => {
  it.each(["\\ud800", "\\udc08", "\\udc08\\ud83d", "a\\ud83d b", "\\ud83d\\ud83d\\udc08"])(
    "refuses the lone surrogate of %s",
    async (escaped) => {
      expect(await create(`"${escaped}"`)).toMatchObject(refused("name must be well-formed Unicode"));
    },
  );
});

describe("a name is a string", () => {
  it.each(["1", "true", "null", "[]", '["Ada"]', "{}"])("refuses %s", async (value) => {
    expect(await create(value)).toMatchObject(refused("name must be a string"));
  });
});

function refused(message: string): object {
  return { status: 400, json: { code: "VALIDATION_FAILED", message, status: 400 } };
}
