import { Problem } from "@petstore/core";
import { parse } from "lossless-json";

/**
 * How many objects and lists of a body may stand inside one another (RFC 8259, section 9, lets a parser set it). Far
 * below what the stack holds, which depends on who calls: the same body would be read at one time, or by one API, and
 * not at another.
 */
export const maxJsonDepth = 100;

/**
 * JSON text (RFC 8259) without rounding: whole numbers become bigint however they are written (`1`, `1.0`, `1e3`),
 * others number. Throws INVALID_JSON, also for an object that repeats a name and for nesting deeper than `maxDepth`.
 */
export function parseExactJson(text: string, maxDepth: number = maxJsonDepth): unknown {
  try {
    const value = parse(text, undefined, { parseNumber });
    // The parser refuses a name that comes with two values, and lets one pass that comes twice with the same.
    if (countNames(text) !== countProperties(value, maxDepth)) throw new SyntaxError("an object repeats a name");
    return value;
  } catch (error) {
    throw new Problem("INVALID_JSON", undefined, { cause: error });
  }
}

/** The strings of well-formed JSON that a colon follows. */
function countNames(text: string): number {
  let count = 0;
  for (const [, colon] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"[ \t\n\r]*(:)?/g)) {
    if (colon !== undefined) count++;
  }
  return count;
}

function countProperties(value: unknown, depthLeft: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (depthLeft === 0) throw new SyntaxError("nested too deep");
  const inside = Object.values(value).reduce((count: number, held) => count + countProperties(held, depthLeft - 1), 0);
  return Array.isArray(value) ? inside : inside + Object.keys(value).length;
}

function parseNumber(text: string): bigint | number {
  return /^-?\d+$/.test(text) ? BigInt(text) : (wholeNumber(text) ?? Number(text));
}

/** The exact value of a decimal with a fraction or an exponent, where it is whole and within reach of int64. */
function wholeNumber(text: string): bigint | undefined {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = withoutTrailingZeros(whole + fraction);
  if (/^-?$/.test(digits)) return 0n;
  const trailingZeros = whole.length + fraction.length - digits.length;
  const shift = Number(exponent) - fraction.length + trailingZeros;
  // A mantissa of 64 KiB or an exponent of a billion must not become a bigint of that size.
  return shift >= 0 && shift + digits.length <= 40 ? BigInt(digits + "0".repeat(shift)) : undefined;
}

/** A loop, because `/0+$/` starts anew at every zero: quadratic time for a number of 60,000 zeros. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}
