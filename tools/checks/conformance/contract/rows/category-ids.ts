import { create, created, invalid, type Row, rowsOf } from "../row.js";

const createIn = (categoryId: string) => create(`{"name":"Rex","categoryId":${categoryId}}`);
const rule = invalid("categoryId must be an integer from -9223372036854775808 to 9223372036854775807");

export const categoryIdRows: readonly Row[] = [
  ...rowsOf(
    "an int64 is exact",
    ["0", "-1", "9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808"],
    (categoryId) => ({ send: createIn(categoryId), expected: created({ categoryId }) }),
  ),
  ...rowsOf(
    "an integer may be written as",
    {
      "1.0": "1",
      "1e3": "1000",
      "1E+3": "1000",
      "1.5e1": "15",
      "10e-1": "1",
      "-0": "0",
      "0e999999999999": "0",
      "9.223372036854775807e18": "9223372036854775807",
      "92233720368547758070e-1": "9223372036854775807",
    },
    (categoryId, written) => ({ send: createIn(written), expected: created({ categoryId }) }),
  ),
  {
    title: "a string of digits is an integer in GraphQL only, because an ID of GraphQL may be a string",
    send: createIn('"1"'),
    expected: rule,
    graphql: created({ categoryId: "1" }),
  },
  ...rowsOf(
    "a categoryId is an int64",
    [
      ...["9223372036854775808", "-9223372036854775809", "9.223372036854775808e18", "18446744073709551617", "1e19"],
      ...["1.5", "0.1", "1e-1", "1e400", "-1e400", "1e999999999999", "1e-400"],
      ...['"one"', '"1.0"', '""', "true", "null", "[1]", "{}"],
    ],
    (categoryId) => ({ send: createIn(categoryId), expected: rule }),
  ),
  ...rowsOf(
    "a categoryId is an int64",
    {
      "60,000 digits": "9".repeat(60_000),
      "60,000 zeros between two digits": `1${"0".repeat(60_000)}1.0`,
      "60,000 zeros after the point": `0.${"0".repeat(60_000)}1`,
      "an exponent of 60,000 digits": `1e${"9".repeat(60_000)}`,
    },
    (categoryId) => ({ send: createIn(categoryId), expected: rule }),
  ),
];
