/** A 64-bit integer as a bigint, a safe integer, or a string of decimal digits. */
export type Int64 = bigint | number | string;

const min = -(2n ** 63n);
const max = 2n ** 63n - 1n;

/** Throws a RangeError if the value is outside the range of int64, or a number that may already be rounded. */
export function toInt64(value: Int64, name: string): bigint {
  const exact = toBigInt(value);
  if (exact === undefined || exact < min || exact > max) {
    throw new RangeError(`${name} must be an int64: a bigint, a safe integer, or a string of decimal digits`);
  }
  return exact;
}

function toBigInt(value: Int64): bigint | undefined {
  switch (typeof value) {
    case "bigint":
      return value;
    case "number":
      return Number.isSafeInteger(value) ? BigInt(value) : undefined;
    default:
      // BigInt() also accepts "", " 1 " and "0x1".
      return /^-?\d{1,19}$/.test(value) ? BigInt(value) : undefined;
  }
}
