import fc from "fast-check";
import { GraphQLError, isAbstractType, OverlappingFieldsCanBeMergedRule, parse, validate } from "graphql";
import { expect, it } from "vitest";
import { buildPetSchema } from "../schema/pet-resolver.js";
import { selectionFault } from "./selection-fault.js";

const schema = buildPetSchema();

it("may compare fields without their types: no two types share a place in the response", () => {
  const abstract = Object.values(schema.getTypeMap()).filter(isAbstractType);
  expect(abstract).toEqual([]);
});

const alias = fc.constantFrom("", "", "", "", "", "", "x: ", "id: ");
const listArguments = fc.constantFrom(
  ...["(limit: 1)", "(limit: 1)", "(limit: 1)", "(limit: 2)", '(limit: 1, cursor: "a")', '(cursor: "a", limit: 1)'],
);
const connectionArguments = fc.constantFrom("", "", "", "(first: 1)", "(after: null)");

/** Fragments on each type, that spread each other only below, so that there is no cycle. */
const { onQuery, onPet, onConnection } = fc.letrec<
  Record<"onQuery" | "onPet" | "onConnection" | "query" | "pet" | "connection", string>
>((tie) => {
  const several = (one: fc.Arbitrary<string>) =>
    fc.array(one, { minLength: 1, maxLength: 4 }).map((all) => all.join(" "));
  const field = (...parts: fc.Arbitrary<string>[]) => fc.tuple(alias, ...parts).map((texts) => texts.join(""));
  const inside = (type: "onPet" | "onConnection") => tie(type).map((selections) => ` { ${selections} }`);
  return {
    onQuery: several(tie("query")),
    onPet: several(tie("pet")),
    onConnection: several(tie("connection")),
    query: fc.oneof(
      { depthSize: "small" },
      field(fc.constant("__typename")),
      field(fc.constant("pets"), listArguments, inside("onPet")),
      field(fc.constant("petsConnection"), connectionArguments, inside("onConnection")),
      fc.constant("...Q"),
      tie("onQuery").map((selections) => `... { ${selections} }`),
    ),
    pet: fc.oneof(
      { depthSize: "small" },
      field(fc.constantFrom("id", "name", "status", "__typename")),
      fc.constant("...P"),
      tie("onPet").map((selections) => `... on Pet { ${selections} }`),
    ),
    connection: fc.oneof(
      { depthSize: "small" },
      field(fc.constant("nodes"), inside("onPet")),
      field(fc.constant("edges { node"), inside("onPet"), fc.constant(" }")),
      fc.constant("...C"),
    ),
  };
});

it("finds a conflict of fields exactly in the documents in which graphql's own rule finds one", () => {
  const seen = { conflict: 0, none: 0 };
  const bodies = fc.tuple(onQuery, onQuery, onPet, onConnection);
  fc.assert(
    fc.property(bodies, ([operation, query, pet, connection]) => {
      const text = `{ ${operation} ...Q p: pets { ...P } c: petsConnection { ...C } }
        fragment Q on Query { ${query.replaceAll("...Q", "__typename")} }
        fragment P on Pet { ${pet.replaceAll("...P", "id")} }
        fragment C on PetConnection { ${connection.replaceAll("...C", "nodes { id }")} }`;
      const document = parse(text);
      const fault = selectionFault(document);
      // Other limits end the walk before its end.
      fc.pre(fault === undefined || fault.message.includes("conflict"));
      const hasConflict = validate(schema, document, [OverlappingFieldsCanBeMergedRule]).length > 0;
      seen[hasConflict ? "conflict" : "none"]++;
      expect(fault !== undefined, text).toBe(hasConflict);
    }),
    { numRuns: 1_000 },
  );
  expect(Math.min(seen.conflict, seen.none)).toBeGreaterThan(50);
});

it("names the response key and both places of a conflict", () => {
  const fault = selectionFault(parse("{\n  a: pets { id }\n  a: petsConnection { nodes { id } }\n}"));
  expect(fault).toBeInstanceOf(GraphQLError);
  expect(fault?.message).toContain('Fields "a" conflict');
  expect(fault?.locations).toEqual([
    { line: 2, column: 3 },
    { line: 3, column: 3 },
  ]);
});
