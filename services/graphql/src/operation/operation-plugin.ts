/**
 * Carries out the plan of an operation inside of Apollo Server, so that other plugins see each step: refuses the operation, or
 * reserves its cost before it is executed.
 */
import type { ApolloServerPlugin } from "@apollo/server";
import type { OperationContext } from "../schema/pet-resolver.js";
import { declareVariablesAsId } from "./variables.js";

export function createOperationPlugin(): ApolloServerPlugin<OperationContext> {
  return {
    async requestDidStart({ contextValue: { plan, extend } }) {
      let extension: Promise<void> | undefined;
      return {
        async didResolveOperation() {
          if (plan.outcome === "refused") throw plan.problem;
          if (plan.cost > 1) extension = extend(plan.cost);
          await extension;
        },

        /**
         * Only the execution gets the variables that `readVariables` has read, and a document for them. Other plugins see what
         * the client sent. Decision 0013 says why graphql does not read the variables.
         */
        async executionDidStart(requestContext) {
          if (plan.outcome === "refused") return;
          const { document, operation, request } = requestContext;
          Object.assign(requestContext, {
            document: declareVariablesAsId(document, operation),
            request: { ...request, variables: plan.variables },
          });
          return {
            async executionDidEnd() {
              Object.assign(requestContext, { document, request });
            },
          };
        },

        /**
         * Plugins run in parallel. If another plugin refuses the operation during our quota call, the response must wait for
         * the call, and show its outcome. `didResolveOperation` throws an error of the call.
         */
        async didEncounterErrors() {
          await extension?.catch(() => {});
        },
      };
    },
  };
}
