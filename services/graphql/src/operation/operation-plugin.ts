/**
 * Decides whether Apollo Server executes an operation: checks the operation's name, variables, HTTP method and cost, and
 * reserves the cost. Throws a refusal as a `Problem`, and then nothing is executed.
 */
import type { ApolloServerPlugin } from "@apollo/server";
import { containsKey, Problem } from "@petstore/core";
import { type Admission, contextOf } from "@petstore/http";
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from "graphql";
import { collectFields } from "graphql/execution/collectFields.js";
import { problemOf } from "../error-response.js";
import type { OperationContext } from "../schema/pet-resolver.js";
import { declareVariablesAsId, readVariables, type Variables } from "./variables.js";

const maxCost = 10;
const maxDescribedName = 64;

export function createOperationPlugin(admission: Pick<Admission, "extend">): ApolloServerPlugin<OperationContext> {
  return {
    async requestDidStart() {
      let variables: Variables = {};
      let quotaExtension: Promise<void> | undefined;
      return {
        /** With a document, Apollo Server does not parse and validate the text. */
        async didResolveSource(requestContext) {
          Object.assign(requestContext, { document: requestContext.contextValue.document });
        },

        async didResolveOperation({ contextValue: { res }, document, operation, request, schema }) {
          if (operation === undefined) throw invalid("operationName must name one of the operations of the document.");
          const described = { type: operation.operation, name: describedName(operation), cost: undefined };
          contextOf(res).operation = described;
          variables = readVariables(schema, operation, request.variables ?? {});
          const cost = operationCost(schema, document, operation, variables);
          contextOf(res).operation = { ...described, cost };
          if (operation.operation !== "query" && res.req.method !== "POST") {
            res.setHeader("Allow", "POST");
            throw new Problem("METHOD_NOT_ALLOWED", "Only POST can be used for a mutation.");
          }
          if (cost > maxCost) throw new Problem("OPERATION_TOO_LARGE", tooLarge);
          if (cost > 1) quotaExtension = admission.extend(res, cost);
          await quotaExtension;
        },

        /** Only the execution gets the changed document and variables. Other plugins see the client's. */
        async executionDidStart(requestContext) {
          const { document, operation, request } = requestContext;
          Object.assign(requestContext, {
            document: declareVariablesAsId(document, operation),
            request: { ...request, variables },
          });
          return {
            async executionDidEnd() {
              Object.assign(requestContext, { document, request });
            },
          };
        },

        /** Keeps the problems as they were thrown, for the status, the headers and the log. */
        async didEncounterErrors({ contextValue, errors }) {
          contextValue.problems.push(...errors.map(problemOf));
          // Plugins run in parallel. If another plugin refuses the operation during our quota call, wait for the call: it sets
          // the rate-limit headers. An error of the call is ignored here, because `didResolveOperation` throws it.
          await quotaExtension?.catch(() => {});
        },
      };
    },
  };
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
  return name === undefined || containsKey(name.value) ? undefined : name.value.slice(0, maxDescribedName);
}

function invalid(message: string): Problem {
  return new Problem("GRAPHQL_VALIDATION_FAILED", message);
}

const tooLarge = `An operation may have at most ${maxCost} root fields.`;
