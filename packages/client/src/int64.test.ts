import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toInt64 } from "./int64.js";

const min = -(2n ** 63n);
const max = 2n ** 63n - 1n;

it("accepts a bigint, a safe integer and a string of digits", () => {
  fc.assert(
    fc.property(fc.bigInt({ min, max }), (value) => {
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
