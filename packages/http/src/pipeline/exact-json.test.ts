import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { parseExactJson } from "./exact-json.js";

vi.setConfig({ testTimeout: 30_000 });

const invalid = expect.objectContaining({ code: "INVALID_JSON", status: 400 });

describe("exact JSON", () => {
  it("reads every whole number as bigint, digit for digit", () => {
    fc.assert(fc.property(fc.bigInt(), (value) => parseExactJson(`${value}`) === value));
  });

  it.each<[string, bigint]>([
    ["1.0", 1n],
    ["1e3", 1000n],
    ["-0", 0n],
    ["-0.0e5", 0n],
    ["12.50e1", 125n],
    ["9223372036854775807.000", 9223372036854775807n],
    ["9.223372036854775807e18", 9223372036854775807n],
    ["100e-2", 1n],
    ["-1E+2", -100n],
  ])("reads %s as a whole number", (text, value) => {
    expect(parseExactJson(text)).toBe(value);
  });

  it.each(["1.5", "1e-1", "0.1", "1e400", "-1e999999999", "1e-999999999"])("reads %s as a number", (text) => {
    expect(parseExactJson(text)).toBe(Number(text));
  });

  it("agrees with JSON.parse on everything but the type of whole numbers", () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), (text) => {
        const whole = (_name: string, value: unknown) => (typeof value === "bigint" ? Number(value) : value);
        expect(JSON.stringify(parseExactJson(text), whole)).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it.each([
    ["a name twice with two values", '{"a":1,"a":2}'],
    ["a name twice with one value", '{"a":1,"a":1}'],
    ["a name twice in two spellings", '{"a":1,"\\u0061":1}'],
    ["a name twice deep inside", '[{"b":{"a":"x\\"\\\\","a":"x\\"\\\\"}}]'],
    ["nothing", ""],
    ["a number with a leading zero", "01"],
    ["a trailing comma", "[1,]"],
    ["two values", "1 2"],
    ["a nesting too deep to read", "[".repeat(60_000)],
  ])("refuses %s", (_title, text) => {
    expect(() => parseExactJson(text)).toThrow(invalid);
  });

  it("reads 100 levels and refuses the 101st", () => {
    const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${"}]".repeat(levels / 2)}`;
    expect(() => parseExactJson(nested(100))).not.toThrow();
    expect(() => parseExactJson(`[${nested(100)}]`)).toThrow(invalid);
    expect(() => parseExactJson(`[${nested(100)}]`, 101)).not.toThrow();
  });

  it("reads __proto__ as an ordinary property", () => {
    const value = parseExactJson('{"__proto__":{"name":"Rex"}}') as object;
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect("name" in value).toBe(false);
  });

  it("takes linear time for the longest number a body can hold", () => {
    for (const text of [`1${"0".repeat(65_000)}`, `0.${"0".repeat(65_000)}1`, `1e${"9".repeat(65_000)}`]) {
      const startedAtMs = performance.now();
      parseExactJson(text);
      expect(performance.now() - startedAtMs).toBeLessThan(1_000);
    }
  });
});
