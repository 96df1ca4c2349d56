import { create, created, invalid, type Row, refused, rex, rowsOf } from "../row.js";

const statusRule = invalid("status must be one of available, pending, sold");
const propertyRule = invalid(
  "body must be a JSON object with name, categoryId and optionally status, and no other property",
);
const createWith = (name: string) => create(`{"name":"Rex","categoryId":1,${JSON.stringify(name)}:1}`);
const unknown = (...names: readonly string[]) =>
  invalid([...names.map((name) => `${name} is unknown`), propertyRule.message].join("; "));
const notJson = refused(400, "INVALID_JSON", "The JSON of the request is not well-formed or not in UTF-8.");

/** A pet whose status nests lists, so that the body has this many levels. */
const nested = (levels: number) => rex.replace("}", `,"status":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`);
const withStatus = (json: string) => rex.replace("}", `,"status":${json}}`);

export const newPetRows: readonly Row[] = [
  { title: "a new pet without a status is available", send: create(rex), expected: created({ status: "available" }) },
  ...rowsOf("a new pet has the status of its body", ["available", "pending", "sold"], (status) => ({
    send: create(withStatus(`"${status}"`)),
    expected: created({ status }),
  })),
  ...rowsOf(
    "no other status",
    ['"lost"', '"Available"', '"SOLD"', '""', '" sold"', "1", "true", "[]", '["sold"]', "{}"],
    (status) => ({ send: create(withStatus(status)), expected: statusRule }),
  ),
  {
    // The type of `NewPet.status` allows null, and generated clients send it for an empty field. The OpenAPI document does not.
    title: "null is no status in REST, and an absent status in GraphQL",
    send: create(withStatus("null")),
    expected: statusRule,
    graphql: created({ status: "available" }),
  },
  ...rowsOf(
    "required fields",
    {
      "no name": ['{"categoryId":1}', "name is required"],
      "no categoryId": ['{"name":"Rex"}', "categoryId is required"],
      neither: ["{}", "name is required; categoryId is required"],
    },
    ([input, message]: readonly [string, string]) => ({ send: create(input), expected: invalid(message) }),
  ),
  ...rowsOf(
    "an unknown property is named if its name is plain",
    ["id", "Name", "category_id", "__proto__", "constructor", "toString", "9", "x".repeat(40)],
    (name) => ({ send: createWith(name), expected: unknown(name) }),
  ),
  {
    title: "no field is read inside of __proto__",
    send: create(`{"__proto__":${rex}}`),
    expected: invalid(`name is required; categoryId is required; ${unknown("__proto__").message}`),
  },
  ...rowsOf(
    "any other unknown property is not named",
    ["", "x".repeat(41), "a-b", "a b", "a.b", "<b>", "caf\u00e9", "a\n", "pets_live_0123456789"],
    (name) => ({ send: createWith(name), expected: propertyRule }),
  ),
  {
    title: "a message names at most five unknown properties",
    send: create('{"name":"Rex","categoryId":1,"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}'),
    expected: unknown("a", "b", "c", "d", "e"),
  },
  ...rowsOf("a new pet is a JSON object", ["[]", `[${rex}]`, '"Rex"', '""', "null", "true", "0", "1.5"], (input) => ({
    send: create(input),
    expected: propertyRule,
  })),
  {
    title: "all faults of a new pet are reported at once, without its values",
    send: create('{"name":"\\u0007 mauve","categoryId":"mauve","status":"mauve"}'),
    expected: invalid(
      "name must not contain control characters; " +
        "categoryId must be an integer from -9223372036854775808 to 9223372036854775807; " +
        "status must be one of available, pending, sold",
    ),
  },
  { title: "JSON may nest 100 levels", send: create(nested(100)), expected: statusRule },
  { title: "JSON may not nest 101 levels", send: create(nested(101)), expected: notJson },
  ...rowsOf(
    "JSON may have many values",
    { numbers: "1,".repeat(900), objects: "{},".repeat(900), arrays: "[[[]]],".repeat(300) },
    (values) => ({ send: create(withStatus(`[${values}0]`)), expected: statusRule }),
  ),
  ...rowsOf(
    "JSON may not have more than 1,000 values, whatever they are",
    {
      numbers: withStatus(`[${"1,".repeat(1_000)}0]`),
      "numbers with exponents": withStatus(`[${"1e9,".repeat(16_000)}0]`),
      objects: withStatus(`[${"{},".repeat(1_000)}0]`),
      "nested arrays": withStatus(`[${Array(300).fill("[".repeat(98) + "]".repeat(98))}]`),
      "unknown properties": `{${Array.from({ length: 5_000 }, (_, index) => `"p${index}":1`)}}`,
      "values that are not JSON after the thousandth": withStatus(`[${"1,".repeat(1_000)}nonsense`),
    },
    (input) => ({ send: create(input), expected: invalid("The JSON must have at most 1,000 values.") }),
  ),
  ...rowsOf(
    "JSON may not repeat a name",
    [
      '{"name":"Rex","name":"Rex","categoryId":1}',
      '{"name":"Rex","n\\u0061me":"Rex","categoryId":1}',
      '{"name":"Rex","categoryId":1,"status":{"a":[1]},"status":{"a":[1]}}',
      '{"name":"Rex","categoryId":1,"__proto__":1,"__proto__":1}',
    ],
    (input) => ({ send: create(input), expected: notJson }),
  ),
  ...rowsOf(
    "a body must be JSON",
    {
      nothing: "",
      blanks: " \n\t",
      "half an object": "{",
      "two values": "{}{}",
      "a comment": "{} // Rex",
      "a trailing comma": rex.replace("}", ",}"),
      "60,000 opening brackets": "[".repeat(60_000),
      "30,000 nested arrays": "[".repeat(30_000) + "]".repeat(30_000),
      "10,000 nested objects": `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
    },
    (body) => ({ send: create(rex, { body }), expected: notJson }),
  ),
  ...rowsOf(
    "a body must be UTF-8",
    {
      "latin-1": Buffer.from('{"name":"Zo\u00eb"}', "latin1"),
      "a truncated sequence": Buffer.from([0x22, 0xe2, 0x82, 0x22]),
      "an overlong sequence": Buffer.from([0x22, 0xc0, 0xaf, 0x22]),
      "an encoded surrogate": Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
    },
    (body: Buffer) => ({
      send: create(rex, { body }),
      expected: refused(400, "INVALID_JSON", "The request body is not UTF-8."),
    }),
  ),
];
