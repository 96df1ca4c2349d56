import { ApolloServer, type ApolloServerOptions, type ApolloServerPlugin } from "@apollo/server";
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from "@apollo/server/plugin/disabled";
import type { Log } from "@petstore/core";
import type { GraphQLSchema } from "graphql";
import { formatExecutionError } from "./graphql-errors.js";
import { createOperationPlugin } from "./operation/operation-plugin.js";
import type { OperationContext } from "./schema/pet-resolver.js";

/**
 * Executes every operation, through `executeOperation`. Apollo Server's HTTP integration is not used, because admission must
 * run before the body is read. `documentStore` has the parsed and validated document of every operation.
 */
export function createApolloServer(
  schema: GraphQLSchema,
  documentStore: NonNullable<ApolloServerOptions<OperationContext>["documentStore"]>,
  plugins: readonly ApolloServerPlugin<OperationContext>[],
  log: Log,
): ApolloServer<OperationContext> {
  const server = new ApolloServer<OperationContext>({
    schema,
    documentStore,
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
      createOperationPlugin(),
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
