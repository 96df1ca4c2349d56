/** Decides what an operation costs, and whether it can be executed: by its name, its variables and the HTTP method. */
import { containsKey, copyText, Problem } from "@petstore/core";
import type { GraphqlOperation } from "@petstore/http";
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
} from "graphql";
import { collectFields } from "graphql/execution/collectFields.js";
import { readVariables, type Variables } from "./variables.js";

export type Plan = ExecutablePlan | RefusedPlan;

interface ExecutablePlan {
  readonly outcome: "executable";
  readonly operation: GraphqlOperation;
  /** In units of the quota. */
  readonly cost: number;
  /** Converted to the types of the schema, with defaults. */
  readonly variables: Variables;
}

interface RefusedPlan {
  readonly outcome: "refused";
  readonly problem: Problem;
  /** Absent if the document has no such operation. */
  readonly operation?: GraphqlOperation;
  readonly headers?: Readonly<Record<string, string>>;
}

interface SentOperation {
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  readonly variables: Variables;
  /** The HTTP method. */
  readonly method: string;
}

const maxCost = 10;
const maxDescribedName = 64;

export function planOperation(schema: GraphQLSchema, sent: SentOperation): Plan {
  const definition = getOperationAST(sent.document, sent.operationName);
  if (!definition) {
    return { outcome: "refused", problem: invalid("operationName must name one of the operations of the document.") };
  }
  const described = { type: definition.operation, name: describedName(definition), cost: undefined };
  let variables: Variables;
  let cost: number;
  try {
    variables = readVariables(schema, definition, sent.variables);
    cost = operationCost(schema, sent.document, definition, variables);
  } catch (error) {
    return { outcome: "refused", problem: Problem.from(error), operation: described };
  }
  const operation = { ...described, cost };
  if (definition.operation !== "query" && sent.method !== "POST") {
    const problem = new Problem("METHOD_NOT_ALLOWED", "Only POST can be used for a mutation.");
    return { outcome: "refused", problem, operation, headers: { Allow: "POST" } };
  }
  if (cost > maxCost) return { outcome: "refused", problem: new Problem("OPERATION_TOO_LARGE", tooLarge), operation };
  return { outcome: "executable", operation, cost, variables };
}

/** Counts the root fields as graphql executes them (GraphQL specification, section 6.3.2), except introspection. */
export function operationCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): number {
  const rootType = schema.getRootType(operation.operation);
  if (rootType == null) throw invalid(`The schema has no ${operation.operation} operations.`);
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  const fields = collectFields(schema, fragments, variables, rootType, operation.selectionSet);
  const counted = [...fields.values()].filter(([field]) => !field?.name.value.startsWith("__"));
  return Math.max(1, counted.length);
}

/** The name for log and traces. A client can send a long name, or an API key as the name. */
function describedName({ name }: OperationDefinitionNode): string | undefined {
  return name === undefined || containsKey(name.value) ? undefined : copyText(name.value.slice(0, maxDescribedName));
}

function invalid(message: string): Problem {
  return new Problem("GRAPHQL_VALIDATION_FAILED", message);
}

const tooLarge = `An operation may have at most ${maxCost} root fields.`;
