/**
 * Reads the variables of an operation (GraphQL specification, section 6.1.2), because its cost depends on them.
 * `readVariables` refuses what would not reach core: a missing required variable, a null for a non-null type, and a value of
 * a Boolean variable that is not true or false. Core's validators refuse every other invalid value.
 */
import { Problem, rules } from "@petstore/core";
import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLNamedInputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  valueFromAST,
} from "graphql";
import { int64Id, readInt64 } from "../schema/pet-types.js";

export type Variables = Readonly<Record<string, unknown>>;

/** The values, converted to the types of the schema, with defaults. Throws VALIDATION_FAILED with all faults. */
export function readVariables(schema: GraphQLSchema, operation: OperationDefinitionNode, sent: Variables): Variables {
  const variables: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const { variable, type: typeNode, defaultValue } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    // The document is valid, so this is an input type of the schema.
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
  if (faults.length > 0) throw new Problem("VALIDATION_FAILED", faults.join("; "));
  return variables;
}

/**
 * Declares every variable as `ID`, whose `parseValue` changes nothing. `readVariables` has already converted the values,
 * and graphql would convert them again to their declared types.
 */
export function declareVariablesAsId(document: DocumentNode, operation: OperationDefinitionNode): DocumentNode {
  if (!operation.variableDefinitions?.length) return document;
  const declared = operation.variableDefinitions.map(({ kind, variable }) => ({ kind, variable, type: idType }));
  const definitions = document.definitions.map((definition) =>
    definition === operation ? { ...operation, variableDefinitions: declared } : definition,
  );
  return { ...document, definitions };
}

const idType = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: int64Id.name } } as const;

/** List types need no case: no argument of the schema is a list, so no valid document has such a variable. */
function read(value: unknown, type: GraphQLNamedInputType): unknown {
  if (typeof value === "object" && value !== null) {
    // A list, or an object in place of a scalar. Core refuses NaN in every field, with the message for a wrong type.
    if (!isInputObjectType(type) || Array.isArray(value)) return Number.NaN;
    const fields = type.getFields();
    const entries = Object.entries(value).map(([name, held]) => {
      const field = fields[name];
      return [name, field === undefined ? held : read(held, getNamedType(field.type))];
    });
    return Object.fromEntries(entries);
  }
  if (type === int64Id) return readInt64(value);
  return typeof value === "bigint" ? Number(value) : value;
}

const ruleOf: Readonly<Record<string, string>> = {
  Boolean: "must be true or false",
  ID: rules.int64,
  Int: rules.limit,
  NewPet: rules.newPet,
  PetStatus: rules.status,
  String: rules.string,
};
