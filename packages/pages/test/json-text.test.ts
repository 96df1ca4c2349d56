import { expect, it } from "vitest";
import { indentJson } from "../browser/json-text.js";

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
