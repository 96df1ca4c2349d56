import { expect, it } from "vitest";
import { readNextCursor } from "./response-headers.js";

const withLink = (field: string): Headers => new Headers({ Link: field });

it.each([
  ['</v1/pets?limit=2&cursor=AQ>; rel="next"', "AQ"],
  ["<https://a.example/v1/pets?cursor=AQ>;rel=next", "AQ"],
  ['<x>; rel="prev", </v1/pets?cursor=AQ-_>; title="a, b; rel=next"; rel="next"', "AQ-_"],
  ['</v1/pets?cursor=AQ>; rel="first next"', "AQ"],
  ['</v1/pets?cursor=a%26b>; REL="NEXT"', "a&b"],
])("finds the cursor in the Link header %s", (field, cursor) => {
  expect(readNextCursor(withLink(field))).toBe(cursor);
});

it("finds no cursor without a Link header", () => {
  expect(readNextCursor(new Headers())).toBeUndefined();
});

it.each([
  "",
  '</v1/pets?cursor=AQ>; rel="prev"',
  '</v1/pets?cursor=AQ>; rel="nextmost"',
  "</v1/pets?cursor=AQ>; rel=next-archive",
  '</v1/pets?cursor=AQ>; title="rel=next"',
])("finds no cursor in the Link header %j", (field) => {
  expect(readNextCursor(withLink(field))).toBeUndefined();
});

it("rejects a link to the next page without a cursor", () => {
  expect(() => readNextCursor(withLink('</v1/pets>; rel="next"'))).toThrow(TypeError);
});
