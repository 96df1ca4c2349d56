import { ApolloServer, type ApolloServerPlugin } from "@apollo/server";
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from "@apollo/server/plugin/disabled";
import type { RouterDeps } from "@petstore/http";
import type { GraphQLSchema } from "graphql";
import { formatExecutionError } from "./error-response.js";
import { createOperationPlugin } from "./operation/operation-plugin.js";
import type { OperationContext } from "./schema/pet-resolver.js";

/**
 * Executes every operation, through `executeOperation`. Apollo Server's HTTP integration is not used, because admission must
 * run before the body is read. `operation-plugin.ts` supplies parsed and validated documents.
 */
export function createApolloServer(
  { admission, log }: Pick<RouterDeps, "admission" | "log">,
  schema: GraphQLSchema,
  plugins: readonly ApolloServerPlugin<OperationContext>[],
): ApolloServer<OperationContext> {
  const server = new ApolloServer<OperationContext>({
    schema,
    // With a store, Apollo Server would overwrite the parsed document that our plugin supplies.
    documentStore: null,
    persistedQueries: false,
    formatError: (_formatted, error) => formatExecutionError(error),
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    logger: {
      debug: () => {},
      info: () => {},
      // The log writes text only as the message of an Error.
      warn: (message: unknown) => log.warn({ error: new Error(`${message}`) }, "apollo"),
      error: (message: unknown) => log.error({ error: new Error(`${message}`) }, "apollo"),
    },
    plugins: [
      ...plugins,
      // After `plugins`: they see the document and the variables before this plugin replaces them.
      createOperationPlugin(admission),
      // These features are on by default, or environment variables or the schema can turn them on.
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
  });
  server.startInBackgroundHandlingStartupErrorsByLoggingAndFailingAllRequests();
  return server;
}
