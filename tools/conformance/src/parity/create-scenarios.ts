import { maxInt64, minInt64 } from "@petstore/core";
import type { Scenario } from "./scenario.js";
import { create, deviations, pet } from "./steps.js";

const names: Readonly<Record<string, string>> = {
  "of one character": "x",
  "of 255 characters": "n".repeat(255),
  "of 255 characters beyond the basic plane": "🐈".repeat(255),
  "with blanks around it": "  Rex  ",
  "in another script, not normalised": "A\u030Ange 犬",
  "with quotes and a backslash": '"Rex" \\ </script>',
};

const badNames: Readonly<Record<string, string>> = {
  "that is empty": '""',
  "of blanks": '" \u2003 "',
  "of 256 characters": JSON.stringify("n".repeat(256)),
  "with a control character": '"Rex\\u0007"',
  "with U+0000": '"Rex\\u0000"',
  "with U+0085": '"Rex\\u0085"',
  "with a lone surrogate": '"Rex\\ud83d"',
  "that is a number": "1",
  "that is null": "null",
  "that is true": "true",
  "that is a list": '["Rex"]',
  "that is an object": '{"first":"Rex"}',
};

const categoryIds = ["0", "-1", "9007199254740993", `${maxInt64}`, `${minInt64}`, "1.0", "1e3", "-0"];

const badCategoryIds = [
  `${maxInt64 + 1n}`,
  `${minInt64 - 1n}`,
  "1.5",
  "1e30",
  '"one"',
  '"1.0"',
  '""',
  "true",
  "null",
  "[1]",
  "{}",
];

const valid: readonly Scenario[] = [
  { name: "create: the status is available by default", steps: [create(pet)] },
  ...["available", "pending", "sold"].map((status) => ({
    name: `create: ${status}`,
    steps: [create(`{"name":"Rex","categoryId":1,"status":"${status}"}`)],
  })),
  ...Object.entries(names).map(([what, name]) => ({
    name: `create: a name ${what}`,
    steps: [create(JSON.stringify({ name, categoryId: 1 }))],
  })),
  ...categoryIds.map((categoryId) => ({
    name: `create: categoryId ${categoryId}`,
    steps: [create(`{"name":"Rex","categoryId":${categoryId}}`)],
  })),
  {
    name: 'create: categoryId "1"',
    steps: [
      create('{"name":"Rex","categoryId":"1"}', "VALIDATION_FAILED", {
        byDesign: deviations(
          "graphql",
          {
            outcome: "success",
            code: undefined,
            status: undefined,
            message: undefined,
            pets: '[["assigned","Rex","1","available"]]',
            "next cursor": "none",
          },
          "an ID is a string of digits to a browser, so GraphQL takes a string as well as a number",
        ),
      }),
    ],
  },
];

const invalid: readonly Scenario[] = [
  { name: "create: no name", steps: [create('{"categoryId":1}', "VALIDATION_FAILED")] },
  { name: "create: no categoryId", steps: [create('{"name":"Rex"}', "VALIDATION_FAILED")] },
  { name: "create: nothing in it", steps: [create("{}", "VALIDATION_FAILED")] },
  ...Object.entries(badNames).map(([what, name]) => ({
    name: `create: a name ${what}`,
    steps: [create(`{"name":${name},"categoryId":1}`, "VALIDATION_FAILED")],
  })),
  ...badCategoryIds.map((categoryId) => ({
    name: `create: categoryId ${categoryId}`,
    steps: [create(`{"name":"Rex","categoryId":${categoryId}}`, "VALIDATION_FAILED")],
  })),
  ...['"lost"', '"Sold"', '""', "1", "true", "[]"].map((status) => ({
    name: `create: status ${status}`,
    steps: [create(`{"name":"Rex","categoryId":1,"status":${status}}`, "VALIDATION_FAILED")],
  })),
  {
    name: "create: everything wrong, everything reported",
    steps: [create('{"name":"","categoryId":1.5,"status":"lost"}', "VALIDATION_FAILED")],
  },
  { name: "create: status null", steps: [create('{"name":"Rex","categoryId":1,"status":null}', "VALIDATION_FAILED")] },
  {
    name: "create: an unknown property beside a bad name",
    steps: [create('{"name":"","categoryId":1,"age":3}', "VALIDATION_FAILED")],
  },
  {
    name: "create: an unknown property",
    steps: [create('{"name":"Rex","categoryId":1,"age":3}', "VALIDATION_FAILED")],
  },
  { name: "create: an id", steps: [create('{"id":7,"name":"Rex","categoryId":1}', "VALIDATION_FAILED")] },
  ...["null", "[]", '"Rex"', "1"].map((input) => ({
    name: `create: ${input} in place of a pet`,
    steps: [create(input, "VALIDATION_FAILED")],
  })),
];

/** A pet whose status nests lists, so that the body has so many levels. */
const nested = (levels: number) =>
  `{"name":"Rex","categoryId":1,"status":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

const deep: readonly Scenario[] = [
  { name: "create: 100 levels deep", steps: [create(nested(100), "VALIDATION_FAILED")] },
  { name: "create: 101 levels deep", steps: [create(nested(101), "INVALID_JSON")] },
];

export const createScenarios: readonly Scenario[] = [...valid, ...invalid, ...deep];
