import { Problem } from "@petstore/core";
import { parse, splitNumber } from "lossless-json";

/**
 * RFC 8259 section 9 lets a parser limit the nesting. Without a fixed limit the call stack sets it, which depends on the
 * caller: one API could accept a body that the other refuses.
 */
export const maxJsonDepth = 100;

/**
 * JSON text (RFC 8259) without rounding: whole numbers in any spelling (`1`, `1.0`, `1e3`) become bigint, others number.
 * Exception: a number with a fraction or an exponent that needs more than 40 digits as an integer becomes a JavaScript
 * number, perhaps rounded. An int64 needs at most 19.
 *
 * Throws INVALID_JSON, also for an object that repeats a name and for nesting deeper than `maxDepth`.
 */
export function parseExactJson(text: string, maxDepth: number = maxJsonDepth): unknown {
  try {
    const value = parse(text, undefined, { parseNumber });
    // The parser refuses a repeated name with two values, but accepts one with the same value twice.
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
  // As in 1.23e4: the exponent is that of the first significant digit.
  const { sign, digits, exponent } = splitNumber(text);
  const zeros = exponent + 1 - digits.length;
  // An exponent of a billion must not become a bigint of that size.
  return zeros >= 0 && exponent < 40 ? BigInt(`${sign}${digits}${"0".repeat(zeros)}`) : undefined;
}
