import type { Scenario } from "./scenario.js";
import { deviations, list } from "./steps.js";

const valid: readonly Scenario[] = [
  { name: "list: everything by default", steps: [list({})] },
  { name: "list: limit 1", steps: [list({ limit: "1" })] },
  { name: "list: limit 20, the default, said", steps: [list({ limit: "20" })] },
  { name: "list: limit 100", steps: [list({ limit: "100" })] },
  ...["available", "pending", "sold"].map((status) => ({
    name: `list: only ${status}`,
    steps: [list({ status: `"${status}"` })],
  })),
  { name: "list: status and limit", steps: [list({ status: '"pending"', limit: "2" })] },
  {
    name: "list: the page after REST's cursor",
    steps: [list(({ cursor }) => ({ limit: "3", cursor: quoted(cursor) }))],
  },
  {
    name: "list: the page after REST's cursor, filtered",
    steps: [list(({ pendingCursor }) => ({ limit: "3", status: '"pending"', cursor: quoted(pendingCursor) }))],
  },
  {
    name: "list: a pet only once, page after page",
    steps: [list({ limit: "3" }), list(({ cursor }) => ({ limit: "100", cursor: quoted(cursor) }))],
    holds: (answers) => {
      const ids = answers.flatMap(({ outcome }) =>
        outcome.kind === "success" ? outcome.pets.map(({ id }) => id) : [],
      );
      return new Set(ids).size === ids.length ? undefined : "a pet is on two pages";
    },
  },
];

const outOfRange = ["0", "101", "-1", "2147483647", "2147483648", "9007199254740993", "1.5", '"x"', '""'];

const invalid: readonly Scenario[] = [
  ...outOfRange.map((limit) => ({ name: `list: limit ${limit}`, steps: [list({ limit }, "VALIDATION_FAILED")] })),
  { name: 'list: status "lost"', steps: [list({ status: '"lost"' }, "VALIDATION_FAILED")] },
  { name: 'list: status "AVAILABLE"', steps: [list({ status: '"AVAILABLE"' }, "VALIDATION_FAILED")] },
  { name: 'list: status ""', steps: [list({ status: '""' }, "VALIDATION_FAILED")] },
  {
    name: "list: limit and status wrong, both reported",
    steps: [list({ limit: "0", status: '"lost"' }, "VALIDATION_FAILED")],
  },
  { name: "list: a cursor that is none", steps: [list({ cursor: '"nonsense"' }, "INVALID_CURSOR")] },
  { name: "list: an empty cursor", steps: [list({ cursor: '""' }, "INVALID_CURSOR")] },
  {
    name: "list: a cursor of another filter",
    steps: [list(({ cursor }) => ({ status: '"sold"', cursor: quoted(cursor) }), "INVALID_CURSOR")],
  },
  {
    name: "list: a cursor without its filter",
    steps: [list(({ pendingCursor }) => ({ cursor: quoted(pendingCursor) }), "INVALID_CURSOR")],
  },
  {
    name: "list: a cursor cut short",
    steps: [list(({ cursor }) => ({ cursor: quoted(cursor.slice(0, -2)) }), "INVALID_CURSOR")],
  },
  {
    name: "list: an unknown parameter",
    steps: [
      list({ colour: '"red"' }, "VALIDATION_FAILED", {
        byDesign: [...unknownArgument("graphql", "pets"), ...unknownArgument("graphql connection", "petsConnection")],
      }),
    ],
  },
];

export const listScenarios: readonly Scenario[] = [...valid, ...invalid];

function quoted(cursor: string): string {
  return JSON.stringify(cursor);
}

function unknownArgument(api: "graphql" | "graphql connection", field: string) {
  const message = `Unknown argument "colour" on field "Query.${field}".`;
  return deviations(
    api,
    { code: "GRAPHQL_VALIDATION_FAILED", message },
    "a document that does not fit the schema is refused by GraphQL's own validation, before values are judged",
  );
}
