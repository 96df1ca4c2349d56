// tools/checks/conformance/contract tests how both APIs read other numbers, repeated names, nested values and text that is not
// JSON.
import fc from "fast-check";
import { expect, it } from "vitest";
import { parseExactJson } from "./exact-json.js";

it("reads every whole number as bigint, digit for digit", () => {
  fc.assert(fc.property(fc.bigInt(), (value) => parseExactJson(`${value}`) === value));
});

it.each([
  ["-1.50e1", -15n],
  ["-0.0e5", 0n],
  [`0.${"0".repeat(50)}1E51`, 1n],
  ["1e39", 10n ** 39n],
])("reads %s exactly", (text, value) => {
  expect(parseExactJson(text)).toBe(value);
});

it("agrees with JSON.parse on everything but the type of whole numbers", () => {
  fc.assert(
    fc.property(fc.json({ noUnicodeString: false }), (text) => {
      const whole = (_name: string, value: unknown) => (typeof value === "bigint" ? Number(value) : value);
      expect(JSON.stringify(parseExactJson(text), whole)).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});
