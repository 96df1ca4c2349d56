import { Problem } from "@petstore/core";
import { parse, splitNumber } from "lossless-json";

/** Without this limit (RFC 8259 section 9), the size of the call stack would be the limit, and the APIs could differ. */
export const maxJsonDepth = 100;

/**
 * Parses JSON (RFC 8259) without rounding integers: whole numbers in any form (`1`, `1.0`, `1e3`) become bigint, others
 * number. Exception: a whole number of more than 40 digits that is written with a fraction or an exponent becomes number,
 * perhaps rounded. An int64 has at most 19 digits.
 *
 * Throws INVALID_JSON, also for an object that repeats a name and for nesting deeper than `maxDepth`.
 */
export function parseExactJson(text: string, maxDepth: number = maxJsonDepth): unknown {
  try {
    const value = parse(text, undefined, { parseNumber });
    // The parser accepts a repeated name if both values are equal.
    if (countNames(text) !== countProperties(value, maxDepth)) throw new SyntaxError("an object repeats a name");
    return value;
  } catch (error) {
    throw new Problem("INVALID_JSON", undefined, { cause: error });
  }
}

/** Counts the strings of well-formed JSON that are followed by a colon. */
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
  return /^-?\d+$/.test(text) ? BigInt(text) : (exactInteger(text) ?? Number(text));
}

/** The exact value of a decimal with a fraction or an exponent, if it is whole and has at most 40 digits. */
function exactInteger(text: string): bigint | undefined {
  // The exponent belongs to the first significant digit: 12300 has the digits 123 and the exponent 4.
  const { sign, digits, exponent } = splitNumber(text);
  const zeros = exponent + 1 - digits.length;
  // `1e1000000000` must not become a bigint of a billion digits.
  return zeros >= 0 && exponent < 40 ? BigInt(`${sign}${digits}${"0".repeat(zeros)}`) : undefined;
}
