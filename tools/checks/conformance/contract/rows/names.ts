import { create, created, invalid, type Row, rowsOf } from "../row.js";

const cat = "\u{1f408}";
const createNamed = (json: string) => create(`{"name":${json},"categoryId":1}`);
/** Names are JSON text. */
const refuses = (message: string) => (json: string) => ({ send: createNamed(json), expected: invalid(message) });

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
  ...rowsOf(
    "a name has at most 255 code points",
    {
      "256 letters": JSON.stringify("a".repeat(256)),
      "256 code points above U+FFFF": JSON.stringify(cat.repeat(256)),
      "50,000 letters": JSON.stringify("a".repeat(50_000)),
    },
    refuses("name must be at most 255 characters long"),
  ),
  ...rowsOf(
    "a name has a character that is not blank",
    {
      nothing: '""',
      "a space": '" "',
      "no-break spaces": '"\u00a0\u202f"',
      "other blanks": '"\u1680\u2000\u2005\u200a\u2028\u2029\u205f\u3000"',
    },
    refuses("name must contain a character that is not blank"),
  ),
  ...rowsOf(
    "a name has no control characters",
    ["00", "01", "09", "0a", "0d", "1b", "1f", "7f", "80", "85", "9f"].map((digits) => `"Ada\\u00${digits}"`),
    refuses("name must not contain control characters"),
  ),
  ...rowsOf(
    "a name has no lone surrogate",
    ['"\\ud800"', '"\\udc08"', '"\\udc08\\ud83d"', '"a\\ud83d b"', '"\\ud83d\\ud83d\\udc08"'],
    refuses("name must be well-formed Unicode"),
  ),
  ...rowsOf(
    "a name is a string",
    ["1", "true", "null", "[]", '["Ada"]', "{}", '{"first":"Ada"}'],
    refuses("name must be a string"),
  ),
];
