/**
 * Parses JSON (RFC 8259) without rounding integers, within limits that bound the work. `JSON.parse` rounds, and a parser that
 * checks its limits afterwards has already spent time and memory on 32,000 arrays.
 */
import { Problem } from "@petstore/core";

/** Without this limit (RFC 8259 section 9), the size of the call stack would be the limit, and the APIs could differ. */
export const maxJsonDepth = 100;

/**
 * Objects, arrays, strings, numbers, booleans and nulls. A new pet is an object with three values. Ten of them, with their
 * idempotency keys, as the variables of one GraphQL operation, need fewer than 60.
 */
export const maxJsonValues = 1_000;

/**
 * Whole numbers in any form (`1`, `1.0`, `1e3`) become bigint, others number. Exception: a whole number of more than 40
 * digits becomes number, perhaps rounded or infinite. An int64 has at most 19 digits.
 *
 * Throws VALIDATION_FAILED at the value after `maxJsonValues`. Throws INVALID_JSON for everything else that is wrong, also
 * for an object that repeats a name and for nesting deeper than `maxDepth`.
 */
export function parseExactJson(text: string, maxDepth: number = maxJsonDepth): unknown {
  try {
    return createParser(text).parse(maxDepth);
  } catch (error) {
    throw error instanceof Problem ? error : new Problem("INVALID_JSON", undefined, { cause: error });
  }
}

/** A recursive parser. It reads every character once, and stops at the first error. */
function createParser(text: string) {
  let position = 0;
  let valuesLeft = maxJsonValues;

  function parse(maxDepth: number): unknown {
    const value = readValue(maxDepth);
    if (position < text.length) throw new SyntaxError("the text continues after the value");
    return value;
  }

  /** Reads a value, and the white space around it. */
  function readValue(depthLeft: number): unknown {
    valuesLeft -= 1;
    if (valuesLeft < 0) throw new Problem("VALIDATION_FAILED", tooManyValues);
    skipWhiteSpace();
    const value = readBareValue(depthLeft);
    skipWhiteSpace();
    return value;
  }

  function readBareValue(depthLeft: number): unknown {
    switch (text[position]) {
      case "{":
        return readObject(depthLeft);
      case "[":
        return readArray(depthLeft);
      case '"':
        return readString();
      case "t":
        return readWord("true", true);
      case "f":
        return readWord("false", false);
      case "n":
        return readWord("null", null);
      default:
        return readNumber();
    }
  }

  function readObject(depthLeft: number): unknown {
    const members = readItems("}", depthLeft, () => {
      skipWhiteSpace();
      const name = readString();
      skipWhiteSpace();
      expect(":");
      return [name, readValue(depthLeft - 1)] as const;
    });
    // Unlike an assignment, this gives the object a property of its own for the name `__proto__`.
    const object = Object.fromEntries(members);
    if (Object.keys(object).length < members.length) throw new SyntaxError("an object repeats a name");
    return object;
  }

  function readArray(depthLeft: number): unknown {
    return readItems("]", depthLeft, () => readValue(depthLeft - 1));
  }

  function readItems<T>(end: "}" | "]", depthLeft: number, readItem: () => T): T[] {
    if (depthLeft === 0) throw new SyntaxError("nested too deep");
    const items: T[] = [];
    position += 1;
    skipWhiteSpace();
    if (text[position] !== end) {
      items.push(readItem());
      while (text[position] === ",") {
        position += 1;
        items.push(readItem());
      }
    }
    expect(end);
    return items;
  }

  /** Finds the end of the string. `JSON.parse` checks and decodes it. */
  function readString(): string {
    const start = position;
    expect('"');
    for (;;) {
      const code = text.charCodeAt(position);
      position += 1;
      if (code === doubleQuote) return JSON.parse(text.slice(start, position));
      if (code === backslash) position += 1;
      else if (Number.isNaN(code)) throw new SyntaxError("a string does not end");
    }
  }

  function readNumber(): bigint | number {
    number.lastIndex = position;
    const found = number.exec(text);
    if (found === null) throw new SyntaxError("a value is missing");
    position = number.lastIndex;
    const [written, sign = "", whole = "", fraction = "", exponent = "0"] = found;
    return exactInteger(sign, whole, fraction, Number(exponent)) ?? Number(written);
  }

  function readWord<T>(word: string, value: T): T {
    if (!text.startsWith(word, position)) throw new SyntaxError("a value is missing");
    position += word.length;
    return value;
  }

  function expect(sign: string): void {
    if (text[position] !== sign) throw new SyntaxError(`${sign} is missing`);
    position += 1;
  }

  function skipWhiteSpace(): void {
    for (;;) {
      const code = text.charCodeAt(position);
      if (code !== space && code !== lineFeed && code !== carriageReturn && code !== tab) return;
      position += 1;
    }
  }

  return { parse };
}

const tooManyValues = `The JSON must have at most ${maxJsonValues.toLocaleString("en")} values.`;

const number = /(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/y;

const maxDigits = 40;

/** The exact value of a decimal number, if it is whole and has at most 40 digits. */
function exactInteger(sign: string, whole: string, fraction: string, exponent: number): bigint | undefined {
  if (fraction === "" && exponent === 0) return whole.length <= maxDigits ? BigInt(sign + whole) : undefined;
  const digits = withoutZerosInFront(whole + fraction);
  const significant = withoutZerosBehind(digits);
  if (significant === "") return 0n;
  const zeros = exponent - fraction.length + digits.length - significant.length;
  // `1e1000000000` must not become a bigint of a billion digits.
  if (zeros < 0 || significant.length + zeros > maxDigits) return undefined;
  return BigInt(`${sign}${significant}${"0".repeat(zeros)}`);
}

function withoutZerosInFront(digits: string): string {
  let start = 0;
  while (digits[start] === "0") start += 1;
  return digits.slice(start);
}

/** A regular expression such as `/0+$/` takes quadratic time. */
function withoutZerosBehind(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
}

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const doubleQuote = 0x22;
const backslash = 0x5c;
