export const minInt64: bigint = -(2n ** 63n);
export const maxInt64: bigint = 2n ** 63n - 1n;

/** Whether the value is a whole number of the contract's int64 format. */
export function isInt64(value: unknown): value is bigint {
  return typeof value === "bigint" && value >= minInt64 && value <= maxInt64;
}

/** An identifier written in decimal digits, in its one canonical form; `undefined` for anything else. */
export function parseInt64(text: string): bigint | undefined {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return undefined;
  const value = BigInt(text);
  return isInt64(value) ? value : undefined;
}
