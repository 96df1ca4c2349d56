import { keptBytes } from "@petstore/harness";
import fc from "fast-check";
import { buildSchema, executeSync, getOperationAST, parse, validate } from "graphql";
import { expect, it } from "vitest";
import { operationCost, planOperation } from "./plan-operation.js";

const schema = buildSchema("type Query { a: Int b: Int c: Int }");

const condition = fc.constantFrom(
  "",
  "",
  "",
  "@skip(if: true)",
  "@skip(if: $yes)",
  "@skip(if: $no)",
  "@include(if: false)",
  "@include(if: $yes)",
  "@include(if: $no) @skip(if: false)",
);
const selected = fc.constantFrom("a", "b", "c", "x: a", "y: a", "__typename", "t: __typename", "...F", "...G", "...H");

/** Selections as text. A fragment spreads only later fragments, so there is no cycle. */
const { selections } = fc.letrec<{ selections: string; selection: string }>((tie) => ({
  selections: fc.array(tie("selection"), { minLength: 1, maxLength: 4 }).map((all) => all.join(" ")),
  selection: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.tuple(selected, condition).map((parts) => parts.join(" ")),
    fc.tuple(condition, tie("selections")).map(([directive, inside]) => `... ${directive} { ${inside} }`),
  ),
}));

const without = (text: string, ...names: string[]) =>
  names.reduce((left, name) => left.replaceAll(`...${name}`, "a"), text);

it("the name of an operation, which a trace keeps, does not hold the document", async () => {
  const planned = (index: number) => {
    const text = Buffer.from(`#${"x".repeat(30_000)}\nquery ${"q".repeat(60)}${index + 100} { a }`).toString();
    return planOperation(schema, { document: parse(text), operationName: undefined, variables: {}, method: "POST" })
      .operation;
  };
  expect(await keptBytes(100, planned)).toBeLessThan(1_000);
});

it("costs the number of root fields that graphql executes, without introspection", () => {
  let executed = 0;
  fc.assert(
    fc.property(selections, selections, selections, selections, (query, f, g, h) => {
      const text = `query ($yes: Boolean! = true, $no: Boolean! = false) { ${query} ...F ...G ...H k: a @skip(if: $yes) l: b @skip(if: $no) }
        fragment F on Query { ${without(f, "F")} } fragment G on Query { ${without(g, "F", "G")} }
        fragment H on Query { ${without(h, "F", "G", "H")} }`;
      const document = parse(text);
      fc.pre(validate(schema, document).length === 0);
      executed++;
      const { data } = executeSync({ schema, document, rootValue: { a: 1, b: 2, c: 3 } });
      const keys = Object.keys(data ?? {}).filter((key) => !["t", "__typename"].includes(key));
      const operation = getOperationAST(document);
      if (operation == null) throw new Error("the document has no operation");
      expect(operationCost(schema, document, operation, { yes: true, no: false })).toBe(Math.max(1, keys.length));
    }),
    { numRuns: 500 },
  );
  expect(executed).toBeGreaterThan(250);
});
