import { Problem, type ProblemCode } from "@petstore/core";
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getOperationAST,
  type OperationTypeNode,
} from "graphql";
import type { Documents } from "./documents.js";
import { formatProblem, formatRequestError } from "./error-format.js";
import type { GraphqlRequest } from "./graphql-request.js";
import { operationCost } from "./operation-cost.js";
import { readVariables, type Variables } from "./variables.js";

/** A valid operation with its variables read, ready to be executed. */
export interface Operation {
  readonly kind: "operation";
  readonly type: OperationTypeNode;
  readonly name: string | undefined;
  readonly text: string;
  /** The form that is executed (`ValidDocument.executable`). */
  readonly document: DocumentNode;
  readonly variables: Variables;
  /** In units of the quota. */
  readonly cost: number;
}

/** A well-formed request whose document or variables cannot be executed: a request error, in GraphQL's words. */
export interface Unexecutable {
  readonly kind: "unexecutable";
  readonly code: ProblemCode;
  readonly errors: readonly GraphQLFormattedError[];
}

export type PrepareOperation = (request: GraphqlRequest) => Operation | Unexecutable;

export function createOperations(schema: GraphQLSchema, documents: Documents): PrepareOperation {
  return ({ query: text, operationName, variables: sent }) => {
    const document = documents.read(text);
    if (document.kind === "refused") return { ...document, kind: "unexecutable" };
    const definition = getOperationAST(document.source, operationName);
    if (definition == null) return invalid("operationName must name one of the operations of the document.");
    const { operation: type, name } = definition;
    if (schema.getRootType(type) == null) return invalid(`The schema has no ${type} operations.`);
    const variables = readVariables(schema, definition, sent);
    if (variables instanceof Problem) {
      return { kind: "unexecutable", code: variables.code, errors: [formatProblem(variables)] };
    }
    const cost = operationCost(document.source, definition, variables);
    return { kind: "operation", type, name: name?.value, text, document: document.executable, variables, cost };
  };
}

function invalid(message: string): Unexecutable {
  const code = "GRAPHQL_VALIDATION_FAILED";
  return { kind: "unexecutable", code, errors: [formatRequestError(new GraphQLError(message), code)] };
}
