/**
 * The `ID` of this schema: an int64, written as a decimal string, which every browser reads exactly. As input a string
 * or an integer will do, in literals and in variables, beyond 2^53 too. Whatever is no int64 is passed on as it came,
 * for core's validator to refuse, so that both APIs use one wording. GraphQL's own ID refuses bigint. As the type of a
 * variable that has been read (variables.ts) it takes anything, and leaves it as it is.
 */
import { parseInt64 } from "@petstore/core";
import { parseExactJson } from "@petstore/http";
import { GraphQLScalarType, Kind, type ValueNode } from "graphql";

export const int64Id: GraphQLScalarType<unknown, string> = new GraphQLScalarType({
  name: "ID",
  serialize: (id) => `${id}`,
  parseValue: (value) => value,
  parseLiteral,
});

/** A string that spells an int64 as that number; anything else as it came. */
export function readInt64(value: unknown): unknown {
  return typeof value === "string" ? (parseInt64(value) ?? value) : value;
}

/** `undefined`, which graphql takes for invalid, where the notation alone shows that no identifier is meant. */
function parseLiteral(node: ValueNode): unknown {
  switch (node.kind) {
    case Kind.INT:
    case Kind.FLOAT:
      // Like a number of JSON, which is written alike: `1.0` and `1e3` are integers.
      return parseExactJson(node.value);
    case Kind.STRING:
      return readInt64(node.value);
    case Kind.BOOLEAN:
      return node.value;
    default:
      return undefined;
  }
}
