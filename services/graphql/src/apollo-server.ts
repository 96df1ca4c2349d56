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
    // A store of Apollo Server would replace the parsed document of the plugin.
    documentStore: null,
    persistedQueries: false,
    formatError: (_formatted, error) => formatExecutionError(error),
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    logger: {
      debug: () => {},
      info: () => {},
      // The messages are strings. The log shows the message of an error only.
      warn: (message: unknown) => log.warn({ error: new Error(`${message}`) }, "apollo"),
      error: (message: unknown) => log.error({ error: new Error(`${message}`) }, "apollo"),
    },
    plugins: [
      ...plugins,
      // After the caller's plugins: it replaces the document and the variables during execution.
      createOperationPlugin(admission),
      // Otherwise Apollo Server would add these by default, or if environment variables or the schema ask for them.
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
