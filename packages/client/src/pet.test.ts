import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseExactJson, toInt64 } from "./pet.js";

const min = -(2n ** 63n);
const max = 2n ** 63n - 1n;
const int64 = fc.bigInt({ min, max });
/** Text with characters that are special in JSON: digits, quotes, escapes and brackets. */
const trickyText = fc.string({
  unit: fc.constantFrom(...'0123456789-+.eE"\\,:[]{}/bn \t\n\u2028é', "12345678901234567890", '\\"'),
});

it("keeps every digit of every int64", () => {
  fc.assert(
    fc.property(int64, fc.constantFrom("", " ", "\n\t"), (value, blank) => {
      const { id } = parseExactJson(`{"id":${blank}${value}${blank}}`) as { id: number | string };
      if (typeof id === "number") expect(Number.isSafeInteger(id)).toBe(true);
      expect(BigInt(id)).toBe(value);
    }),
  );
});

it("does not change strings and property names", () => {
  fc.assert(
    fc.property(fc.dictionary(trickyText, fc.array(trickyText)), int64, (strings, value) => {
      const text = `{"strings":${JSON.stringify(strings)},"id":${value}}`;
      const read = parseExactJson(text) as { strings: unknown; id: number | string };
      expect(read.strings).toEqual(JSON.parse(JSON.stringify(strings)));
      expect(BigInt(read.id)).toBe(value);
    }),
  );
});

it("parses everything else like JSON.parse", () => {
  fc.assert(
    fc.property(fc.json({ noUnicodeString: false }), (text) => {
      if (/\d{16}/.test(text)) return;
      expect(parseExactJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

it.each(["", "{", '{"id":01}', '"', "[1,]", "12345678901234567890.", "--1234567890123456"])("rejects %j", (text) => {
  expect(() => parseExactJson(text)).toThrow(SyntaxError);
});

it("parses fractions and exponents with many digits like JSON.parse", () => {
  expect(parseExactJson("[1.2345678901234567890,12345678901234567890e1,1e+1234567890123456789]")).toEqual([
    1.2345678901234567,
    123456789012345680000,
    Number.POSITIVE_INFINITY,
  ]);
});

it("parses a text of 1.2 MB", () => {
  const text = JSON.stringify('\\"0123456789'.repeat(100_000));
  expect(parseExactJson(text)).toBe(JSON.parse(text));
});

it("accepts a bigint, a safe integer and a string of digits", () => {
  fc.assert(
    fc.property(int64, (value) => {
      expect(toInt64(value, "id")).toBe(value);
      expect(toInt64(`${value}`, "id")).toBe(value);
    }),
  );
  fc.assert(fc.property(fc.maxSafeInteger(), (value) => toInt64(value, "id") === BigInt(value)));
});

describe("at the limits of int64", () => {
  it.each([min, max, `${min}`, `${max}`])("accepts %s", (value) => {
    expect(toInt64(value, "id")).toBe(BigInt(value));
  });

  it.each([min - 1n, max + 1n, `${min - 1n}`, `${max + 1n}`])("rejects %s", (value) => {
    expect(() => toInt64(value, "id")).toThrow(RangeError);
  });
});

it.each([2 ** 53, -(2 ** 53), 1.5, Number.NaN, Infinity, "", " 1", "1.0", "1e3", "0x1", "+1", null, true, {}])(
  "rejects the ambiguous value %j",
  (value) => {
    expect(() => toInt64(value as never, "categoryId")).toThrow(/^categoryId must be an int64/);
  },
);
