import fc from "fast-check";
import { expect, it } from "vitest";
import { indentJson, jsonTokens } from "../browser/json-text.js";

it.each([
  [[]],
  [[{ name: "Rex", nested: [[1, 2.5e-3], [], null, true], empty: {} }, { id: 1 }]],
  [{ name: '1, {b} [c]: "2" \\' }],
])("indents %j as JSON.stringify does", (value) => {
  expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, undefined, 2));
});

it("keeps every digit", () => {
  expect(indentJson('{"id":-9223372036854775808}')).toBe('{\n  "id": -9223372036854775808\n}');
});

it.each(["", "502 Bad Gateway", '<p class="x y">5" wide</p>'])("does not change %j, which is not JSON", (text) => {
  expect(indentJson(text)).toBe(text);
});

it("finds names, values and digits, and loses no character", () => {
  const text = '{ "id": -12, "na\\"me": "a: 1, true", "open": [true, null, 1.5e3] }';
  const tokens = jsonTokens(text).filter(({ kind }) => kind !== "other");
  expect(tokens.map((token) => [token.kind, token.text])).toEqual([
    ["name", '"id"'],
    ["number", "-12"],
    ["name", '"na\\"me"'],
    ["string", '"a: 1, true"'],
    ["name", '"open"'],
    ["literal", "true"],
    ["literal", "null"],
    ["number", "1.5e3"],
  ]);
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string({ unit: "binary" })), (any) => {
      expect(
        jsonTokens(any)
          .map((token) => token.text)
          .join(""),
      ).toBe(any);
    }),
  );
});
