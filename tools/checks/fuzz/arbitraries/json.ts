/** Strings, numbers and JSON that have broken services. Every other arbitrary mixes them into what its schema allows. */
import fc from "fast-check";

/** One of several values, in proportion to the weights. */
export function weighted<T>(
  ...choices: readonly (readonly [weight: number, values: fc.Arbitrary<T>])[]
): fc.Arbitrary<T> {
  return fc.oneof(...choices.map(([weight, values]) => ({ weight, arbitrary: values })));
}

/** Mostly `usual`, now and then one of the others. */
export function mostly<T>(usual: T, others: fc.Arbitrary<T>, weight = 15): fc.Arbitrary<T> {
  return weighted([weight, fc.constant(usual)], [1, others]);
}

/** JSON text with its value. A whole number in any spelling is a bigint. The value of an object or an array is `{}`. */
export interface Json {
  readonly text: string;
  readonly value: unknown;
}

const words =
  "__proto__ constructor prototype toString hasOwnProperty valueOf toJSON then length null undefined NaN true 0 -0 1e3 " +
  '0x10 $1 {{1}} %s%n ../../etc/passwd <script>alert(1)</script> ﷺ ß İ 🐈‍⬛ " \\ \\u0000';

export const notoriousStrings: readonly string[] = [
  ...words.split(" "),
  ..."\u007f\u0085\u200b\u2028\u202e\ufeff\ufffe\uffff\ufffd\u0000\ud83d",
  ...["", " ", "a\u0000b", "\u001b[31m", "e\u0301\u0301\u0301", "\udc08\ud83d", "\u00a0\u3000\u2003"],
  ...["' or 1=1; --", "\r\nX-Injected: 1"],
  ...["n".repeat(255), "n".repeat(256), "🐈".repeat(255), "🐈".repeat(256)],
];

/** Not always well-formed Unicode. */
export const hostileString: fc.Arbitrary<string> = weighted(
  [3, fc.constantFrom(...notoriousStrings)],
  [2, fc.string({ unit: "binary", maxLength: 40 })],
  [1, fc.string({ unit: "grapheme", maxLength: 40 })],
  [1, fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 }).map((units) => String.fromCharCode(...units))],
);

export const wellFormedString: fc.Arbitrary<string> = hostileString.filter((text) => text.isWellFormed());

export const int64: fc.Arbitrary<bigint> = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

const notoriousNumbers: readonly Json[] = [
  ...["0", "1", "-1", "20", "100", "101", "2147483647", "2147483648", "-2147483649", "1".repeat(400)],
  ...["9007199254740991", "9007199254740993", "18446744073709551616"],
  ...["9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809"],
].map((text): Json => ({ text, value: BigInt(text) }));

/** Other spellings of whole numbers, and numbers that are not whole. */
const oddNumbers: readonly Json[] = [
  ...["-0", "0e99999999999"].map((text) => ({ text, value: 0n })),
  ...["1.0", "1e0", "10e-1", "0.1e1", `1${"0".repeat(300)}e-300`].map((text) => ({ text, value: 1n })),
  ...["9223372036854775807.0", "922337203685477580.7e1"].map((text) => ({ text, value: 2n ** 63n - 1n })),
  ...["1.50", "1e-1", "1e400", "-1e400", "1e-400", "1e99999999999", `0.${"0".repeat(300)}1`].map((text) => ({
    text,
    value: Number.NaN,
  })),
];

/** The value is a bigint, or NaN for a number that is not an int64. */
export const numberJson: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(...notoriousNumbers, ...oddNumbers),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map((value) => ({ text: `${value}`, value })),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((double) => {
    const text = JSON.stringify(double);
    return { text, value: /^-?\d+$/.test(text) ? BigInt(text) : Number.NaN };
  }),
);

export const numberText: fc.Arbitrary<string> = numberJson.map(({ text }) => text);

export function stringJson(strings: fc.Arbitrary<string>): fc.Arbitrary<Json> {
  return strings.map((value) => ({ text: JSON.stringify(value), value }));
}

const nothing: readonly Json[] = [null, true, false].map((value) => ({ text: `${value}`, value }));
const objectText = fc.oneof(
  fc.constantFrom("[]", "{}", '[""]', '{"":{}}', '{"__proto__":{"a":1}}', '{"toString":1}', '{"valueOf":null}'),
  fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 4 }).map((value) => JSON.stringify(value)),
  fc.integer({ min: 1, max: 9_000 }).map((depth) => "[".repeat(depth) + "]".repeat(depth)),
  fc.integer({ min: 1, max: 5_000 }).map((depth) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`),
);

/** Well-formed JSON of any kind, shallow or deep. */
export const anyJson: fc.Arbitrary<Json> = weighted(
  [3, stringJson(hostileString)],
  [3, numberJson],
  [1, fc.constantFrom(...nothing)],
  [4, objectText.map((text) => ({ text, value: {} }))],
);

export const jsonText: fc.Arbitrary<string> = anyJson.map(({ text }) => text);

const brokenJson = ["", "NaN", "[1,]", "{'a':1}", "{a:1}", "01", "+1", "1.", ".5", '"\u0001"', '"\\x"', "//", "1 2"];

/** A body in place of the JSON text: not JSON, not UTF-8, cut off, or too long. */
export function damaged(json: fc.Arbitrary<string>): fc.Arbitrary<Buffer> {
  return fc.oneof(
    json.map((text) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)])),
    json.map((text) => Buffer.from(text, "utf16le")),
    fc.tuple(json, fc.nat()).map(([text, at]) => Buffer.from(text.slice(0, at % (text.length + 1)))),
    fc.tuple(json, fc.nat(), fc.integer({ min: 0, max: 255 })).map(([text, at, byte]) => {
      const bytes = Buffer.from(text);
      if (bytes.length > 0) bytes.writeUInt8(byte, at % bytes.length);
      return bytes;
    }),
    fc.tuple(json, hostileString).map(([text, tail]) => Buffer.from(text + tail)),
    fc.tuple(json, fc.constantFrom(65_000, 65_537, 200_000)).map(([text, size]) => Buffer.from(text.padEnd(size))),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom(...brokenJson).map((text) => Buffer.from(text)),
  );
}
