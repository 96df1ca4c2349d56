import type { ProblemCode } from "@petstore/core";
import type { Deviation, Known, Step } from "./scenario.js";

type Extras = Partial<Omit<Step, "operation" | "expected">>;
type Query = Readonly<Record<string, string>>;

/** Values are JSON text: `{ limit: "1", status: '"sold"' }`. */
export function list(
  query: Query | ((known: Known) => Query),
  expected: Expected = "success",
  extras: Extras = {},
): Step {
  return {
    operation: (known) => ({ kind: "list", query: typeof query === "function" ? query(known) : query }),
    expected,
    ...extras,
  };
}

/** `input` is JSON text: the contract's New pet. */
export function create(
  input: string,
  expected: Expected = "success",
  { idempotencyKey, ...extras }: Extras & { readonly idempotencyKey?: string } = {},
): Step {
  const operation = { kind: "create", input, ...(idempotencyKey !== undefined && { idempotencyKey }) } as const;
  return { operation, expected, ...extras };
}

type Expected = "success" | ProblemCode;

export const pet = '{"name":"Rex","categoryId":1}';

/** What one API says instead, fact by fact, for one reason. */
export function deviations(
  api: Deviation["api"],
  facts: Readonly<Record<string, string | undefined>>,
  reason: string,
): readonly Deviation[] {
  return Object.entries(facts).map(([fact, value]) => ({ api, fact, reason, ...(value !== undefined && { value }) }));
}
