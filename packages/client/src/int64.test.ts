import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toInt64 } from "./int64.js";

const min = -(2n ** 63n);
const max = 2n ** 63n - 1n;

it("takes a bigint, a safe number and decimal digits for the same exact value", () => {
  fc.assert(
    fc.property(fc.bigInt({ min, max }), (value) => {
      expect(toInt64(value, "id")).toBe(value);
      expect(toInt64(`${value}`, "id")).toBe(value);
    }),
  );
  fc.assert(fc.property(fc.maxSafeInteger(), (value) => toInt64(value, "id") === BigInt(value)));
});

describe("the ends of int64", () => {
  it.each([min, max, `${min}`, `${max}`])("takes %s", (value) => {
    expect(toInt64(value, "id")).toBe(BigInt(value));
  });

  it.each([min - 1n, max + 1n, `${min - 1n}`, `${max + 1n}`])("refuses %s", (value) => {
    expect(() => toInt64(value, "id")).toThrow(RangeError);
  });
});

it.each([2 ** 53, -(2 ** 53), 1.5, Number.NaN, Infinity, "", " 1", "1.0", "1e3", "0x1", "+1", null, true, {}])(
  "refuses %j, which may not be what was meant",
  (value) => {
    expect(() => toInt64(value as never, "categoryId")).toThrow(/^categoryId must be an int64/);
  },
);
