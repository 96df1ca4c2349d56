import { create, created, invalid, type Row, rowsOf } from "../row.js";

const cat = "\u{1f408}";
const createNamed = (json: string) => create(`{"name":${json},"categoryId":1}`);

/** Promise, message, and names as JSON text. */
const refusedNames: readonly (readonly [string, string, readonly string[] | Readonly<Record<string, string>>])[] = [
  [
    "a name has at most 255 code points",
    "name must be at most 255 characters long",
    {
      "256 letters": JSON.stringify("a".repeat(256)),
      "256 code points above U+FFFF": JSON.stringify(cat.repeat(256)),
      "50,000 letters": JSON.stringify("a".repeat(50_000)),
    },
  ],
  [
    "a name has a character that is not blank",
    "name must contain a character that is not blank",
    {
      nothing: '""',
      "a space": '" "',
      "no-break spaces": '"\u00a0\u202f"',
      "other blanks": '"\u1680\u2000\u2005\u200a\u2028\u2029\u205f\u3000"',
    },
  ],
  [
    "a name has no control characters",
    "name must not contain control characters",
    ["0000", "0001", "0009", "000a", "000d", "001b", "001f", "007f", "0080", "0085", "009f"].map(
      (digits) => `"Ada\\u${digits}"`,
    ),
  ],
  [
    "a name has no lone surrogate",
    "name must be well-formed Unicode",
    ['"\\ud800"', '"\\udc08"', '"\\udc08\\ud83d"', '"a\\ud83d b"', '"\\ud83d\\ud83d\\udc08"'],
  ],
  ["a name is a string", "name must be a string", ["1", "true", "null", "[]", '["Ada"]', "{}", '{"first":"Ada"}']],
];

export const nameRows: readonly Row[] = [
  ...rowsOf(
    "a name is stored byte for byte",
    {
      "one letter": "A",
      "a composed accent (NFC)": "Zo\u00eb",
      "a combining accent (NFD)": "Zoe\u0308",
      "spaces around it": "  Ada  ",
      "letters from right to left": "\u05de\u05d9\u05e6\u05d9",
      "an emoji of four code points and three joiners": "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}",
      "a byte order mark": "\ufeffAda",
      "quotes, backslash, markup and SQL": `"\\'; drop table pets; -- <b>&amp;</b>`,
      "the last code points": "\uffff\u{10ffff}",
      "the code points next to the control characters": " !~\u00a0",
      "255 letters": "a".repeat(255),
      "255 code points above U+FFFF": cat.repeat(255),
      "the name of an object property": "__proto__",
    },
    (name) => ({ send: createNamed(JSON.stringify(name)), expected: created({ name }) }),
  ),
  {
    title: "a name is stored byte for byte: two escapes for a surrogate pair",
    send: createNamed('"\\ud83d\\udc08"'),
    expected: created({ name: cat }),
  },
  ...refusedNames.flatMap(([promise, message, names]) =>
    rowsOf(promise, names as Readonly<Record<string, string>>, (name) => ({
      send: createNamed(name),
      expected: invalid(message),
    })),
  ),
];
