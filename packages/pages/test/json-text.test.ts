import { describe, expect, it } from "vitest";
import { indentJson } from "../browser/json-text.js";

describe("indentJson", () => {
  it.each([
    ["[]", "[]"],
    ["{}", "{}"],
    ['{"a":[],"b":{}}', '{\n  "a": [],\n  "b": {}\n}'],
    ['[{"id":1},{"id":2}]', '[\n  {\n    "id": 1\n  },\n  {\n    "id": 2\n  }\n]'],
  ])("indents %s", (text, indented) => {
    expect(indentJson(text)).toBe(indented);
  });

  it("keeps every digit, and does not change strings", () => {
    const text = '{"categoryId":-9223372036854775808,"name":"a, {b} [c]: \\"d\\" \\\\"}';
    expect(indentJson(text)).toContain('"categoryId": -9223372036854775808,');
    expect(JSON.parse(indentJson(text))).toEqual(JSON.parse(text));
    expect(indentJson(text)).toContain('"a, {b} [c]: \\"d\\" \\\\"');
  });

  it("writes the same text as JSON.stringify", () => {
    const value = [{ name: "Rex", nested: [[1, 2.5e-3], null, true], empty: {} }];
    expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, undefined, 2));
  });
});
