/**
 * Executes operations with Apollo Server, below its HTTP integration: the request has been read, validated, counted and
 * admitted by then, in the same order and with the same headers as in the REST API.
 */
import { ApolloServer, type ApolloServerPlugin } from "@apollo/server";
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from "@apollo/server/plugin/disabled";
import type { Log } from "@petstore/core";
import type { GraphQLError, GraphQLSchema } from "graphql";
import type { Documents } from "./documents.js";
import type { Operation } from "./operation.js";
import type { OperationContext } from "./pet-resolver.js";

interface Executed {
  readonly data: Readonly<Record<string, unknown>> | null | undefined;
  /** As they were thrown. */
  readonly errors: readonly GraphQLError[];
}

export type Execute = (operation: Operation, context: OperationContext) => Promise<Executed>;

export interface ExecutorDeps {
  readonly schema: GraphQLSchema;
  readonly documents: Documents;
  readonly log: Log;
}

export function createExecutor({ schema, documents, log }: ExecutorDeps): Execute {
  const apollo = new ApolloServer<ApolloContext>({
    schema,
    introspection: true,
    persistedQueries: false,
    // Every request has an Authorization header, which a cross-site request cannot send without a preflight.
    csrfPrevention: false,
    // documents.ts has validated every document, under limits, and remembers it.
    dangerouslyDisableValidation: true,
    documentStore: {
      get: async (key) => documents.find(key.slice(-digestLength)),
      set: async () => {},
      delete: async () => {},
    },
    stopOnTerminationSignals: false,
    includeStacktraceInErrorResponses: false,
    logger: quietLogger(log),
    plugins: [
      executePreparedDocument,
      collectErrors,
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
  });
  apollo.startInBackgroundHandlingStartupErrorsByLoggingAndFailingAllRequests();

  return async (operation, contextValue) => {
    const { text: query, name, variables } = operation;
    const errors: GraphQLError[] = [];
    const { body } = await apollo.executeOperation(
      { query, variables: { ...variables }, ...(name !== undefined && { operationName: name }) },
      { contextValue: { ...contextValue, operation, errors } },
    );
    if (body.kind === "incremental") throw new Error("the schema has no incremental delivery");
    return { data: body.singleResult.data, errors };
  };
}

interface ApolloContext extends OperationContext {
  readonly operation: Operation;
  readonly errors: GraphQLError[];
}

/** Hexadecimal digits of a SHA-256. */
const digestLength = 64;

/** Executes the document whose variables accept any value: `variables.ts` has read them, in the words of core. */
const executePreparedDocument: ApolloServerPlugin<ApolloContext> = {
  requestDidStart: async () => ({
    didResolveOperation: async (request) => {
      Object.assign(request, { document: request.contextValue.operation.document });
    },
  }),
};

/** Keeps the errors as they were thrown, for the log and the status: Apollo returns formatted ones only. */
const collectErrors: ApolloServerPlugin<ApolloContext> = {
  requestDidStart: async () => ({
    didEncounterErrors: async ({ errors, contextValue }) => void contextValue.errors.push(...errors),
  }),
};

function quietLogger(log: Log) {
  return {
    debug: () => {},
    info: () => {},
    warn: (message: unknown) => log.warn({ error: message }, "apollo"),
    error: (message: unknown) => log.error({ error: message }, "apollo"),
  };
}
