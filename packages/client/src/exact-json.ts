/**
 * JSON.parse rounds integers above 2^53, and Node 20 has no `context.source` for its reviver. Therefore long integers
 * are put in quotes before parsing. Strings are matched as a whole, so digits inside them stay as they are.
 */
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const longInteger = /^-?\d{16,}$/;

/** Parses JSON text. Integers of 16 digits or more become strings. */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text.replace(stringOrNumber, (token) => (longInteger.test(token) ? `"${token}"` : token)));
}
