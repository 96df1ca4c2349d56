import { expect } from "vitest";
import { type Catalogue, get, invalid, list, type Problem, type Row, refused, rowsOf, shows } from "../row.js";

const limitRule = invalid("limit must be an integer from 1 to 100");
const statusRule = invalid("status must be one of available, pending, sold");
const unknownCursor = refused(400, "INVALID_CURSOR", "the cursor must be one that this list returned");
const otherFilter = refused(
  400,
  "INVALID_CURSOR",
  "the cursor must be used with the status filter it was returned for",
);
const notFound = refused(404, "PET_NOT_FOUND", "No pet has this identifier.");

/**
 * A GraphQL document with an unknown argument does not fit the schema. Apollo Server refuses it before the values. Its
 * message ends with the field, which differs in the two variants.
 */
const unknownArgument: Problem = refused(
  400,
  "GRAPHQL_VALIDATION_FAILED",
  expect.stringContaining('Unknown argument "colour"'),
);

/** These expect a catalogue without further pets, so they come first. */
export const listRows: readonly Row[] = [
  { title: "a list has 20 pets by default", send: list(), expected: shows(({ pets }) => pets.slice(0, 20)) },
  ...rowsOf("a list has at most limit pets, in ascending order of id", ["1", "20", "29", "30", "100"], (limit) => ({
    send: list({ limit }),
    expected: shows(({ pets }) => pets.slice(0, Number(limit))),
  })),
  ...rowsOf("a list by status has only pets with that status", ["available", "pending", "sold"], (status) => ({
    send: list({ status: `"${status}"` }),
    expected: shows(({ pets }) => pets.filter((pet) => pet.status === status)),
  })),
  {
    title: "a cursor continues the list, with any limit",
    send: list(({ cursor }) => ({ limit: "4", cursor: `"${cursor}"` })),
    expected: shows(({ pets }) => pets.slice(3, 7)),
  },
  {
    title: "a cursor continues the list until its end",
    send: list(({ cursor }) => ({ limit: "100", cursor: `"${cursor}"` })),
    expected: shows(({ pets }) => pets.slice(3)),
  },
  {
    title: "a cursor continues the list by status, with at most limit pets",
    send: list(({ pendingCursor }) => ({ limit: "3", status: '"pending"', cursor: `"${pendingCursor}"` })),
    expected: shows(({ pets }) => pets.filter(({ status }) => status === "pending").slice(3, 6)),
  },
  {
    title: "a pet is found by its id",
    send: get(({ pets }) => pets[4]?.id ?? ""),
    expected: shows(({ pets }) => pets.slice(4, 5)),
  },
  ...rowsOf(
    "an id without a pet is not found",
    ["0", "-1", "999999", "9223372036854775807", "-9223372036854775808"],
    (id) => ({ send: get(id), expected: notFound }),
  ),
  ...rowsOf(
    "limit is an integer from 1 to 100, never clamped",
    [
      ...["0", "101", "-1", "-0", "1.5", "2147483647", "2147483648", "9007199254740993", "99999999999999999999999"],
      ...['"x"', '""', '"010"', '"1e1"', '"1.0"', '"0x10"', '"1_0"', '"+5"', '" 5"', '"5 "', '"\uff15"', '"NaN"'],
      ...['"Infinity"', '"1,2"'],
    ],
    (limit) => ({ send: list({ limit }), expected: limitRule }),
  ),
  ...rowsOf(
    "status is one of three",
    ['"lost"', '"Sold"', '"SOLD"', '""', '"sold "', '"sold,pending"', '"0"'],
    (status) => ({ send: list({ status }), expected: statusRule }),
  ),
  {
    title: "all faults of a list are reported at once, without its values",
    send: list({ limit: "777", status: '"mauve"' }),
    expected: invalid(`${limitRule.message}; ${statusRule.message}`),
  },
  {
    title: "an unknown parameter is refused",
    send: list({ colour: '"red"' }),
    expected: invalid("colour is unknown; query parameter must be limit, status or cursor"),
    graphql: unknownArgument,
  },
  ...rowsOf(
    "a cursor is one that the list returned",
    {
      "an empty text": () => "",
      "another spelling of the same bytes": (cursor) => `${cursor.slice(0, -1)}R`,
      "8,000 characters": () => "A".repeat(8_000),
    },
    (write: (cursor: string) => string) => ({
      send: list(({ cursor }) => ({ cursor: JSON.stringify(write(cursor)) })),
      expected: unknownCursor,
    }),
  ),
  ...rowsOf(
    "a cursor is used with its filter",
    {
      "with another filter": ({ pendingCursor }) => ({ status: '"sold"', cursor: `"${pendingCursor}"` }),
      "with a filter, although its list had none": ({ cursor }) => ({ status: '"available"', cursor: `"${cursor}"` }),
      "without the filter": ({ pendingCursor }) => ({ cursor: `"${pendingCursor}"` }),
    },
    (query: (catalogue: Catalogue) => Readonly<Record<string, string>>) => ({
      send: list(query),
      expected: otherFilter,
    }),
  ),
];
