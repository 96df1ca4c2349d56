import fc from "fast-check";
import { hostileString, jsonText, numberText } from "./hostile.js";

/** One property of a JSON object: its name, and its value as JSON text. */
type Entry = readonly [name: string, value: string];

const validName = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 30 })
  .filter((name) => /\S/.test(name))
  .map((name) => JSON.stringify(name));
const validCategoryId = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const validStatus = fc.constantFrom('"available"', '"pending"', '"sold"');

const nameText = fc.oneof(
  { weight: 5, arbitrary: validName },
  { weight: 4, arbitrary: hostileString.map((text) => JSON.stringify(text)) },
  // Every character escaped.
  {
    weight: 1,
    arbitrary: hostileString.map(
      (text) =>
        `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`,
    ),
  },
  { weight: 1, arbitrary: jsonText },
);
const categoryIdText = fc.oneof(
  { weight: 6, arbitrary: validCategoryId },
  { weight: 3, arbitrary: numberText },
  { weight: 1, arbitrary: jsonText },
);
const statusText = fc.oneof({ weight: 8, arbitrary: validStatus }, { weight: 1, arbitrary: jsonText });

/** What is meant to be a pet: properties in any order, each of them as it should be, hostile or missing. */
const entries: fc.Arbitrary<readonly Entry[]> = fc
  .record(
    {
      name: nameText,
      categoryId: categoryIdText,
      status: statusText,
      stray: fc.tuple(
        fc.oneof(
          fc.constantFrom("id", "__proto__", "constructor", "Name", "name ", "name", "status", "categoryId"),
          hostileString,
        ),
        jsonText,
      ),
    },
    { requiredKeys: [] },
  )
  .chain(({ stray, ...named }) => {
    const all: Entry[] = Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined);
    if (stray !== undefined) all.push(stray);
    return fc.shuffledSubarray(all, { minLength: all.length });
  });

const wellMeant: fc.Arbitrary<readonly Entry[]> = fc
  .tuple(nameText, categoryIdText, fc.option(statusText, { nil: undefined }))
  .map(([name, categoryId, status]): readonly Entry[] => [
    ["name", name],
    ["categoryId", categoryId],
    ...(status === undefined ? [] : [["status", status] as const]),
  ]);

/** JSON text of a pet to add, or of nearly one. */
export const newPetText: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof({ weight: 7, arbitrary: wellMeant }, { weight: 1, arbitrary: entries }),
    fc.constantFrom("", "", " ", "\n\t"),
  )
  .map(
    ([all, blank]) => `{${all.map(([name, value]) => `${blank}${JSON.stringify(name)}:${value}`).join(",")}${blank}}`,
  );
