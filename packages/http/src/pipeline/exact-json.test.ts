// tools/checks/conformance/contract tests how both APIs read numbers, repeated names and text that is not JSON.
import fc from "fast-check";
import { expect, it } from "vitest";
import { parseExactJson } from "./exact-json.js";

const invalid = expect.objectContaining({ code: "INVALID_JSON", status: 400 });

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

it.each(["1.5", "1e-1", "0.1", "1e40", "1e400", "-1e999999999", "1e-999999999"])("reads %s as a number", (text) => {
  expect(parseExactJson(text)).toBe(Number(text));
});

it("agrees with JSON.parse on everything but the type of whole numbers", () => {
  fc.assert(
    fc.property(fc.json({ noUnicodeString: false }), (text) => {
      const whole = (_name: string, value: unknown) => (typeof value === "bigint" ? Number(value) : value);
      expect(JSON.stringify(parseExactJson(text), whole)).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});

it("reads 100 levels by default, and any other number if it is told to", () => {
  const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${"}]".repeat(levels / 2)}`;
  expect(() => parseExactJson(nested(100))).not.toThrow();
  expect(() => parseExactJson(`[${nested(100)}]`)).toThrow(invalid);
  expect(() => parseExactJson(`[${nested(100)}]`, 101)).not.toThrow();
});
