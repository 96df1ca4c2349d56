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
 * The Apollo Server that executes every operation. We call its `executeOperation` and do not use its HTTP integration,
 * because admission must run before the body is read. `operation-plugin.ts` gives it documents that are already parsed and
 * validated.
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
      // The messages are strings, and the log shows text only from an Error.
      warn: (message: unknown) => log.warn({ error: new Error(`${message}`) }, "apollo"),
      error: (message: unknown) => log.error({ error: new Error(`${message}`) }, "apollo"),
    },
    plugins: [
      ...plugins,
      // After the caller's plugins, so that they see the document and the variables before this plugin replaces both.
      createOperationPlugin(admission),
      // Each turns off a feature that is on by default, or that environment variables or the schema can turn on.
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
