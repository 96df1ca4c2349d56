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

/** Other notations of an int64, with its value. */
export const notations: Readonly<Record<string, bigint>> = {
  ...{ "-0": 0n, "0e99999999999": 0n, "1.0": 1n, "1e0": 1n, "10e-1": 1n, "0.1e1": 1n },
  [`1${"0".repeat(300)}e-300`]: 1n,
  "9223372036854775807.0": 2n ** 63n - 1n,
  "922337203685477580.7e1": 2n ** 63n - 1n,
};

const notoriousNumbers = [
  ...["0", "1", "-1", "20", "100", "101", "2147483647", "2147483648", "-2147483649", "1".repeat(400)],
  ...["9007199254740991", "9007199254740993", "18446744073709551616"],
  ...["9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809"],
  ...["1.50", "1e-1", "1e400", "-1e400", "1e-400", "1e99999999999", `0.${"0".repeat(300)}1`],
];

export const numberText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...notoriousNumbers, ...Object.keys(notations)),
  fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((double) => JSON.stringify(double)),
);

export function quoted(strings: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return strings.map((text) => JSON.stringify(text));
}

export type Member = readonly [name: string, json: string];

export function objectText(members: readonly Member[], blank = ""): string {
  return `{${members.map(([name, json]) => `${blank}${JSON.stringify(name)}:${json}`)}${blank}}`;
}

/**
 * Dear to parse: far below or above the limit of values, because a GraphQL request has some more values than a body of REST.
 * At most 15 KB long, so that five of them fit into a body of both APIs.
 */
const dearJson: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(fc.constantFrom(100, 1_500), fc.constantFrom("[]", "{}", "1e9", "[[[]]]", '""', "true"))
    .map(([length, item]) => `[${Array<string>(length).fill(item)}]`),
  fc
    .constantFrom(100, 1_500)
    .map((length) => `{${Array.from({ length }, (_, index) => `"p${index.toString(36)}":1`)}}`),
  fc
    .tuple(fc.constantFrom(40, 41, 10_000), fc.constantFrom("9", "10"))
    .map(([length, digits]) => digits.repeat(length)),
  fc
    .tuple(fc.constantFrom(10, 1_500), fc.constantFrom("\\u0061", "\\n", "x", "🐈"))
    .map(([length, unit]) => `"${unit.repeat(length)}"`),
);

/** Well-formed JSON of any kind, shallow or deep. */
export const anyJson: fc.Arbitrary<string> = weighted(
  [3, quoted(hostileString)],
  [3, numberText],
  [1, fc.constantFrom("null", "true", "false")],
  [1, fc.constantFrom("[]", "{}", '[""]', '{"":{}}', '{"__proto__":{"a":1}}', '{"toString":1}', '{"valueOf":null}')],
  [1, fc.json({ maxDepth: 2 })],
  [1, dearJson],
  [1, fc.integer({ min: 1, max: 9_000 }).map((depth) => "[".repeat(depth) + "]".repeat(depth))],
  [1, fc.integer({ min: 1, max: 5_000 }).map((depth) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`)],
);

const brokenParts = [
  ...["NaN", ",", "'", "01", "+1", "1.", ".5", '"\u0001"', '"\\x"', "//", " "],
  ...["\u0000", "\ufeff", "\ud83d"],
];

/** A body in place of the JSON text: not JSON, not UTF-8, cut off, or too long. */
export function damaged(json: fc.Arbitrary<string>): fc.Arbitrary<Buffer> {
  return fc.oneof(
    edited(json, fc.constantFrom(...brokenParts)).map((text) => Buffer.from(text)),
    fc.tuple(json, hostileString).map(([text, tail]) => Buffer.from(text + tail)),
    fc.tuple(json, fc.nat()).map(([text, at]) => Buffer.from(text.slice(0, at % (text.length + 1)))),
    fc.tuple(json, fc.constantFrom(65_000, 65_537, 200_000)).map(([text, size]) => Buffer.from(text.padEnd(size))),
    json.map((text) => Buffer.from(text, "utf16le")),
    json.map((text) => Buffer.from(text, "latin1")),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  );
}

/** One to three edits: each removes up to three words and signs, and may insert a piece in their place. */
export function edited(texts: fc.Arbitrary<string>, pieces: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const edit = fc.record({ at: fc.nat(), removed: fc.nat({ max: 3 }), inserted: fc.oneof(fc.constant(""), pieces) });
  return fc.tuple(texts, fc.array(edit, { minLength: 1, maxLength: 3 })).map(([text, edits]) => {
    const parts = text.match(/\w+|\W/g) ?? [];
    for (const { at, removed, inserted } of edits) parts.splice(at % (parts.length + 1), removed, inserted);
    return parts.join("");
  });
}
