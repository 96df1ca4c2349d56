import { expect, it } from "vitest";
import { nextCursor } from "./next-cursor.js";

it.each([
  ['</v1/pets?limit=2&cursor=AQ>; rel="next"', "AQ"],
  ["<https://a.example/v1/pets?cursor=AQ>;rel=next", "AQ"],
  ['<x>; rel="prev", </v1/pets?cursor=AQ-_>; title="a, b; rel=next"; rel="next"', "AQ-_"],
  ['</v1/pets?cursor=AQ>; rel="first next"', "AQ"],
  ['</v1/pets?cursor=a%26b>; REL="NEXT"', "a&b"],
])("finds the cursor in %s", (field, cursor) => {
  expect(nextCursor(field)).toBe(cursor);
});

it.each([
  null,
  "",
  '</v1/pets?cursor=AQ>; rel="prev"',
  '</v1/pets?cursor=AQ>; rel="nextmost"',
  "</v1/pets?cursor=AQ>; rel=next-archive",
  '</v1/pets?cursor=AQ>; title="rel=next"',
])("finds none in %s", (field) => {
  expect(nextCursor(field)).toBeUndefined();
});

it("refuses a next page without a cursor", () => {
  expect(() => nextCursor('</v1/pets>; rel="next"')).toThrow(TypeError);
});
