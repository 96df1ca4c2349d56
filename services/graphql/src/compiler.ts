/**
 * Operations turned into JavaScript (graphql-jit): what graphql works out again for every field of every animal is worked
 * out once for each operation. Plain ones alone, of fields and their arguments: fragments that spread each other twice
 * take graphql-jit exponential time.
 */
import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLScalarType,
  GraphQLSchema,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
} from "graphql";
import { compileQuery, isCompiledQuery } from "graphql-jit";
import { withVariablesOf } from "./documents.js";
import type { Operation } from "./operation.js";
import type { OperationContext } from "./pet-resolver.js";
import type { Variables } from "./variables.js";

type CompiledOperation = (
  context: OperationContext,
  variables: Variables,
) => ExecutionResult | Promise<ExecutionResult>;

/** The compiled form of an operation; `undefined` where graphql itself has to execute it. */
export type Compile = (operation: Operation) => CompiledOperation | undefined;

export function createCompiler(schema: GraphQLSchema): Compile {
  const config = schema.toConfig();
  const compilable = new GraphQLSchema({ ...config, types: [...config.types, anything] });
  const compiled = new WeakMap<DocumentNode, CompiledOperation | undefined>();

  return ({ document, variables }) => {
    // What graphql-jit makes of values that are absent differs from graphql, so those are left to graphql.
    if (!isEveryVariableGiven(document, variables)) return undefined;
    if (!compiled.has(document)) compiled.set(document, isPlain(document) ? compile(compilable, document) : undefined);
    return compiled.get(document);
  };
}

/** Variables have been read: they are taken as they are. graphql-jit would make a string of what is said to be an ID. */
const anything = new GraphQLScalarType({ name: "Anything" });

function compile(schema: GraphQLSchema, document: DocumentNode): CompiledOperation | undefined {
  const query = compileQuery(schema, withVariablesOf(document, anything.name), undefined, {
    disablingCapturingStackErrors: true,
  });
  if (!isCompiledQuery(query)) return undefined;
  return (context, variables) => query.query(undefined, context, variables);
}

/**
 * One operation of few fields, without fragments, directives or introspection, which would tell of the type above. Not
 * several mutations: where one fails, graphql runs none of those behind it, and graphql-jit runs them all.
 */
function isPlain({ definitions: [operation, ...others] }: DocumentNode): boolean {
  if (operation?.kind !== Kind.OPERATION_DEFINITION || others.length > 0) return false;
  if (operation.operation === OperationTypeNode.MUTATION && operation.selectionSet.selections.length > 1) return false;
  const fields = countPlainFields(operation.selectionSet);
  return fields <= maxFields && operation.directives?.length === 0;
}

const maxFields = 100;

/** Infinite where there is anything but plain fields. */
function countPlainFields({ selections }: SelectionSetNode): number {
  return selections.reduce((count, selection) => {
    if (selection.kind !== Kind.FIELD || selection.directives?.length !== 0) return Number.POSITIVE_INFINITY;
    const { name, selectionSet } = selection;
    if (name.value === "__schema" || name.value === "__type") return Number.POSITIVE_INFINITY;
    return count + 1 + (selectionSet === undefined ? 0 : countPlainFields(selectionSet));
  }, 0);
}

function isEveryVariableGiven({ definitions }: DocumentNode, variables: Variables): boolean {
  return definitions.every(
    (definition) =>
      definition.kind !== Kind.OPERATION_DEFINITION ||
      (definition.variableDefinitions ?? []).every(({ variable }) => isGiven(variables[variable.name.value])),
  );
}

/** No number stands for a value that fits no type (variables.ts). */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && !Number.isNaN(value);
}
