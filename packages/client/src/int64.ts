/** A 64-bit whole number as a caller may write it: a bigint, a safe number, or decimal digits. */
export type Int64 = bigint | number | string;

const min = -(2n ** 63n);
const max = 2n ** 63n - 1n;

/** The exact value. Throws a RangeError for a number that may have been rounded already, and outside of int64. */
export function toInt64(value: Int64, name: string): bigint {
  const exact = exactly(value);
  if (exact === undefined || exact < min || exact > max) {
    throw new RangeError(`${name} must be an int64: a bigint, a safe integer, or a string of decimal digits`);
  }
  return exact;
}

function exactly(value: Int64): bigint | undefined {
  switch (typeof value) {
    case "bigint":
      return value;
    case "number":
      return Number.isSafeInteger(value) ? BigInt(value) : undefined;
    default:
      // BigInt alone would also read "", " 1 " and "0x1".
      return /^-?\d{1,19}$/.test(value) ? BigInt(value) : undefined;
  }
}
