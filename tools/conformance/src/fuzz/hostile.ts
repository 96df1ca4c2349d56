/** Values that have broken services: what every generator mixes into what its schema allows. */
import fc from "fast-check";

type Text = fc.Arbitrary<string>;

/** What objects have without being given it, and what looks like another value, another line, another language. */
export const notorious: readonly string[] = [
  "",
  " ",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "toJSON",
  "then",
  "length",
  "null",
  "undefined",
  "NaN",
  "true",
  "0",
  "-0",
  "1e3",
  "0x10",
  "' or 1=1; --",
  "$1",
  "{{1}}",
  "%s%n",
  "../../etc/passwd",
  "<script>alert(1)</script>",
  "\u0000",
  "a\u0000b",
  "\u001b[31m",
  "\u007f",
  "\u0085",
  "\u200b",
  "\u2028",
  "\u202e",
  "\ufeff",
  "\ufffe",
  "\uffff",
  "\ufffd",
  "e\u0301\u0301\u0301",
  "ﷺ",
  "ß",
  "İ",
  "🐈‍⬛",
  "\ud83d",
  "\udc08\ud83d",
  "n".repeat(255),
  "n".repeat(256),
  "🐈".repeat(255),
  "🐈".repeat(256),
  "\u00a0\u3000\u2003",
  '"',
  "\\",
  "\\u0000",
  "\r\nX-Injected: 1",
];

/** Also what is no Unicode. */
export const hostileString: Text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...notorious) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
      .map((units) => String.fromCharCode(...units)),
  },
);

export const wellFormedString: Text = hostileString.filter((text) => text.isWellFormed());

const numbers = [
  "0",
  "-0",
  "1",
  "-1",
  "20",
  "100",
  "101",
  "1.0",
  "1.50",
  "1e0",
  "1e3",
  "1E+2",
  "10e-1",
  "0.1e1",
  "1e-1",
  "1e400",
  "-1e400",
  "1e-400",
  "1e99999999999",
  "0e99999999999",
  "9007199254740991",
  "9007199254740993",
  "2147483647",
  "2147483648",
  "-2147483649",
  "9223372036854775807",
  "9223372036854775808",
  "-9223372036854775808",
  "-9223372036854775809",
  "9223372036854775807.0",
  "922337203685477580.7e1",
  "18446744073709551616",
  "1".repeat(400),
  `0.${"0".repeat(300)}1`,
  `1${"0".repeat(300)}e-300`,
];

/** JSON has no other numbers. */
export const numberText: Text = fc.oneof(
  fc.constantFrom(...numbers),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc
    .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: -30, max: 30 }))
    .map(([mantissa, exponent]) => `${mantissa}e${exponent}`),
);

/** Well-formed JSON of any kind, shallow or deep. */
export const jsonText: Text = fc.oneof(
  { weight: 3, arbitrary: hostileString.map((text) => JSON.stringify(text)) },
  { weight: 3, arbitrary: numberText },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "null",
      "true",
      "false",
      "[]",
      "{}",
      '[""]',
      '{"":{}}',
      '{"__proto__":{"a":1}}',
      '{"toString":1}',
      '{"valueOf":null}',
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 9_000 }).map((depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 5_000 }).map((depth) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`),
  },
);

/** What follows, in place of what was meant: bytes that are no JSON, or no UTF-8, or more than they say. */
export function damaged(text: Text): fc.Arbitrary<Buffer> {
  return fc.oneof(
    text.map((json) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(json)])),
    text.map((json) => Buffer.from(json, "utf16le")),
    fc.tuple(text, fc.nat()).map(([json, at]) => Buffer.from(json.slice(0, at % (json.length + 1)))),
    fc.tuple(text, fc.nat(), fc.integer({ min: 0, max: 255 })).map(([json, at, byte]) => {
      const bytes = Buffer.from(json);
      if (bytes.length > 0) bytes.writeUInt8(byte, at % bytes.length);
      return bytes;
    }),
    fc.tuple(text, hostileString).map(([json, tail]) => Buffer.from(json + tail)),
    fc
      .tuple(text, fc.constantFrom(65_000, 65_537, 200_000))
      .map(([json, size]) => Buffer.from(json + " ".repeat(size))),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom(
        "",
        "NaN",
        "[1,]",
        "{'a':1}",
        "{a:1}",
        "01",
        "+1",
        "1.",
        ".5",
        '"\u0001"',
        '"\\x"',
        "//",
        "/**/1",
        "1 2",
      )
      .map((json) => Buffer.from(json)),
  );
}
