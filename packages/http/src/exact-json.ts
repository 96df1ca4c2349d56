import { Problem } from "@petstore/core";
import { parse } from "lossless-json";

/**
 * JSON text (RFC 8259) without rounding: whole numbers become bigint however they are written (`1`, `1.0`, `1e3`),
 * others number. Throws INVALID_JSON, also for an object that repeats a name and for nesting too deep to read.
 */
export function parseExactJson(text: string): unknown {
  try {
    return parse(text, undefined, { parseNumber, onDuplicateKey: refuse });
  } catch (error) {
    throw new Problem("INVALID_JSON", undefined, { cause: error });
  }
}

function refuse(): never {
  throw new SyntaxError("an object repeats a name");
}

function parseNumber(text: string): bigint | number {
  return /^-?\d+$/.test(text) ? BigInt(text) : (wholeNumber(text) ?? Number(text));
}

/** The exact value of a decimal with a fraction or an exponent, where it is whole and within reach of int64. */
function wholeNumber(text: string): bigint | undefined {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = (whole + fraction).replace(/0+$/, "");
  if (/^-?$/.test(digits)) return 0n;
  const trailingZeros = whole.length + fraction.length - digits.length;
  const shift = Number(exponent) - fraction.length + trailingZeros;
  // A mantissa of 64 KiB or an exponent of a billion must not become a bigint of that size.
  return shift >= 0 && shift + digits.length <= 40 ? BigInt(digits + "0".repeat(shift)) : undefined;
}
