import fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import { type EveryField, parseExactJson, readPet, toInt64 } from "./pet.js";

const min = -(2n ** 63n);
const max = 2n ** 63n - 1n;
const int64 = fc.bigInt({ min, max });
/** Text with characters that are special in JSON: digits, quotes, escapes and brackets. */
const trickyText = fc.string({
  unit: fc.constantFrom(...'0123456789-+.eE"\\,:[]{}/bn \t\n\u2028é', "12345678901234567890", '\\"'),
});

it("keeps every digit of every int64, and does not change strings and property names", () => {
  fc.assert(
    fc.property(
      fc.dictionary(trickyText, fc.array(trickyText)),
      int64,
      fc.constantFrom("", " ", "\n\t"),
      (strings, value, blank) => {
        const text = `{"strings":${JSON.stringify(strings)},"id":${blank}${value}${blank}}`;
        const read = parseExactJson(text) as { strings: unknown; id: number | string };
        expect(read.strings).toEqual(JSON.parse(JSON.stringify(strings)));
        if (typeof read.id === "number") expect(Number.isSafeInteger(read.id)).toBe(true);
        expect(BigInt(read.id)).toBe(value);
      },
    ),
  );
});

describe("a pet", () => {
  const id = max;
  const text = `{"id":${id},"name":"Rex","categoryId":7,"status":"sold"}`;

  it("equals an object with its fields, and is written as JSON with strings of digits", () => {
    const pet = readPet(text);
    expect(pet).toStrictEqual({ id, name: "Rex", categoryId: 7n, status: "sold" });
    expect(JSON.stringify([pet])).toBe(`[{"id":"${id}","name":"Rex","categoryId":"7","status":"sold"}]`);
  });

  it("has no properties that only a newer service knows", () => {
    expect(readPet(text.replace("{", '{"nickname":"Rexy",'))).toStrictEqual(readPet(text));
  });

  it.each(["id", "name", "categoryId", "status", "sold"])("is refused with another text instead of %s", (part) => {
    expect(() => readPet(text.replace(`"${part}"`, '"other"'))).toThrow();
  });
});

describe("an int64", () => {
  it.each([min, max, `${min}`, `${max}`, 2 ** 53 - 1, 1 - 2 ** 53])("is %s", (value) => {
    expect(toInt64(value, "id")).toBe(BigInt(value));
  });

  it.each([
    ...[min - 1n, max + 1n, `${min - 1n}`, `${max + 1n}`, 2 ** 53, -(2 ** 53), 1.5, Number.NaN, Infinity],
    ...["", " 1", "1.0", "1e3", "0x1", "+1", null, true, {}],
  ])("is not %s", (value) => {
    expect(() => toInt64(value as never, "categoryId")).toThrow(/^categoryId must be an int64/);
  });
});

// `tsc` makes this comparison, so a difference fails `npm run check`.
it("has an object literal compile only if it names every field, optional ones too", () => {
  expectTypeOf<EveryField<{ readonly name: string; readonly color?: string | undefined }>>().toEqualTypeOf<{
    readonly name: string;
    readonly color: string | undefined;
  }>();
});
