// tools/checks/conformance/contract tests how both APIs read other numbers, repeated names, nested values and text that is not
// JSON.
import fc from "fast-check";
import { expect, it } from "vitest";
import { maxJsonValues, parseExactJson } from "./exact-json.js";

it("reads every whole number of up to 40 digits as bigint, digit for digit", () => {
  const upTo40Digits = fc.bigInt({ min: 1n - 10n ** 40n, max: 10n ** 40n - 1n });
  fc.assert(fc.property(upTo40Digits, (value) => parseExactJson(`${value}`) === value));
});

it.each([
  ["-1.50e1", -15n],
  ["-0.0e5", 0n],
  [`0.${"0".repeat(50)}1E51`, 1n],
  ["1e39", 10n ** 39n],
  ["9".repeat(40), 10n ** 40n - 1n],
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

it.each([
  ["of 41 digits", "9".repeat(41)],
  ["of 60,000 digits", "9".repeat(60_000)],
  ["with 40 zeros", `1${"0".repeat(40)}`],
  ["with 41 digits and an exponent", "1e40"],
])("reads a whole number %s as number", (_what, text) => {
  expect(parseExactJson(text)).toBe(Number(text));
});

it.each<[what: string, write: (values: number) => string]>([
  ["numbers", (values) => `[${Array(values - 1).fill("1")}]`],
  ["strings, whatever they contain", (values) => `[${Array(values - 1).fill('"[,:{\\""')}]`],
  ["arrays", (values) => `[${Array(values - 1).fill("[]")}]`],
  ["arrays in arrays", (values) => `[${Array((values - 1) / 3).fill("[[[ ]]]")}]`],
  ["members of an object", (values) => `{${Array.from({ length: values - 1 }, (_, n) => `"a${n}":1`)}}`],
])("accepts 1,000 values and not one more: %s", (_what, write) => {
  expect(() => parseExactJson(write(maxJsonValues))).not.toThrow();
  const oneMore = write(maxJsonValues).replace(/^\[/, "[true,").replace(/^{/, '{"one more":true,');
  expect(() => parseExactJson(oneMore)).toThrow(expect.objectContaining({ code: "VALIDATION_FAILED" }));
});

it("reads no further than the value that is too much", () => {
  expect(() => parseExactJson(`[${"1,".repeat(maxJsonValues)} this is not JSON`)).toThrow("at most 1,000 values");
});
