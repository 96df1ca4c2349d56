/**
 * The variables of an operation, read before it is admitted (GraphQL specification, section 6.1.2), and not again: what
 * executes takes them as they are (documents.ts). Refused here is only what must keep an operation from being executed.
 * Every other value that does not fit is core's to judge, so that both APIs name all faults at once, in one wording.
 */
import { Problem, rules } from "@petstore/core";
import {
  type GraphQLInputType,
  type GraphQLNamedInputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isNonNullType,
  type OperationDefinitionNode,
  typeFromAST,
  valueFromAST,
} from "graphql";
import { int64Id, readInt64 } from "./int64-id.js";

export type Variables = Readonly<Record<string, unknown>>;

/** Values as the types of the schema take them and defaults filled in, or VALIDATION_FAILED with every fault. */
export function readVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  sent: Variables,
): Variables | Problem {
  const variables: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const { variable, type: typeNode, defaultValue } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    // Validation has found the type and that it is an input type.
    const type = typeFromAST(schema, typeNode as never) as GraphQLInputType;
    const named = getNamedType(type);
    const value = Object.hasOwn(sent, name) ? sent[name] : undefined;
    if (value === undefined) {
      if (defaultValue !== undefined) variables[name] = valueFromAST(defaultValue, type);
      else if (isNonNullType(type)) faults.push(`${name} is required`);
    } else {
      variables[name] = read(value, named);
      const isRefused = value === null ? isNonNullType(type) : named.name === "Boolean" && typeof value !== "boolean";
      if (isRefused) faults.push(`${name} ${ruleOf[named.name] ?? `must be of type ${named.name}`}`);
    }
  }
  return faults.length > 0 ? new Problem("VALIDATION_FAILED", faults.join("; ")) : variables;
}

/**
 * Stands for a value that does not fit its type. Core refuses it wherever it is, with the words it has for the value
 * itself, and nothing on the way there can stumble over what a client made up.
 */
const unfit = Number.NaN;

/** Lists are left out: no argument of the schema takes one, so no valid document has a variable for one. */
function read(value: unknown, type: GraphQLNamedInputType): unknown {
  if (value === null) return null;
  if (isInputObjectType(type)) {
    if (typeof value !== "object" || Array.isArray(value)) return unfit;
    const fields = new Map(Object.entries(type.getFields()));
    return Object.fromEntries(
      Object.entries(value).map(([name, held]) => {
        const field = fields.get(name);
        // A property that the type does not have is core's to refuse, by its name.
        return [name, field === undefined ? unfit : read(held, getNamedType(field.type))];
      }),
    );
  }
  if (type === int64Id) return typeof value === "object" ? unfit : readInt64(value);
  try {
    return type.parseValue(typeof value === "bigint" ? Number(value) : value);
  } catch {
    // Core's message says what it should have been.
    return unfit;
  }
}

/** What a type wants, in core's words. */
const ruleOf: Readonly<Record<string, string>> = {
  Boolean: "must be true or false",
  ID: rules.int64,
  Int: rules.limit,
  NewPet: rules.newPet,
  PetStatus: rules.status,
  String: rules.string,
};
