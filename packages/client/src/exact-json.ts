/**
 * JSON.parse rounds whole numbers beyond 2^53, and its `context.source` is not in Node 20. So the long ones are put
 * between quotes before it reads them; strings are stepped over whole, whatever digits, quotes or escapes they hold.
 */
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const longInteger = /^-?\d{16,}$/;

/** The value of the JSON text, in which whole numbers of 16 digits or more are strings of their digits. */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text.replace(stringOrNumber, (token) => (longInteger.test(token) ? `"${token}"` : token)));
}
