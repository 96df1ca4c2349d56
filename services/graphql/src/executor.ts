/**
 * Apollo Server, asked below its HTTP half: whatever that would judge has been judged, counted and answered by then, in
 * the order and with the headers of the other door. A document that Apollo has executed goes past its pipeline from then
 * on, which has nothing left to find: compiled, or where that might differ, as graphql itself executes it.
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
import { type DocumentNode, execute, type GraphQLError, type GraphQLSchema } from "graphql";
import { createCompiler } from "./compiler.js";
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
    // Who reaches it has sent an Authorization header, which no cross-site request can without a preflight.
    csrfPrevention: false,
    // Every text that arrives has been validated, under limits; what is found here is not parsed again either.
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
      collectErrors,
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
  });
  apollo.startInBackgroundHandlingStartupErrorsByLoggingAndFailingAllRequests();

  const seen = new WeakSet<DocumentNode>();
  const compile = createCompiler(schema);

  return async (operation, contextValue) => {
    const { text, name, document, variables: variableValues } = operation;
    if (seen.has(document)) {
      const compiled = compile(operation);
      const { data, errors = [] } = await (compiled === undefined
        ? execute({ schema, document, contextValue, variableValues, operationName: name })
        : compiled(contextValue, variableValues));
      return { data, errors };
    }
    seen.add(document);
    const errors: GraphQLError[] = [];
    const { body } = await apollo.executeOperation(
      { query: text, variables: { ...variableValues }, ...(name !== undefined && { operationName: name }) },
      { contextValue: { ...contextValue, errors } },
    );
    if (body.kind === "incremental") throw new Error("the schema has no incremental delivery");
    return { data: body.singleResult.data, errors };
  };
}

interface ApolloContext extends OperationContext {
  readonly errors: GraphQLError[];
}

/** Hexadecimal digits of a SHA-256. */
const digestLength = 64;

/** Apollo hands out formatted errors alone; what they were is needed for the log and for the status. */
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
