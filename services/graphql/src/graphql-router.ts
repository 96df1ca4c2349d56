import { ApolloServer, type ApolloServerPlugin } from "@apollo/server";
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from "@apollo/server/plugin/disabled";
import { Problem } from "@petstore/core";
import {
  acceptedType,
  answerProblems,
  jsonMediaType,
  methodNotAllowed,
  onRoute,
  type RouterDeps,
} from "@petstore/http";
import { graphiqlFiles, readGuides } from "@petstore/pages";
import { type RequestHandler, Router } from "express";
import { type GraphQLSchema, printSchema } from "graphql";
import { formatExecutionError, formatRefusal, graphqlMediaType } from "./error-response.js";
import { readGraphqlRequest } from "./graphql-request.js";
import { respondToGraphql } from "./graphql-response.js";
import { createDocumentReader } from "./operation/documents.js";
import { createOperationPlugin } from "./operation/operation-plugin.js";
import { createPersistedQueries } from "./operation/persisted-queries.js";
import { buildPetSchema, type OperationContext } from "./schema/pet-resolver.js";

export interface GraphqlRouterDeps extends RouterDeps {
  /** Apollo Server plugins. They see every operation whose document is valid. */
  readonly plugins?: readonly ApolloServerPlugin<OperationContext>[];
}

/** The GraphQL API at `/graphql`, its schema, and GraphiQL. The last two need no key to load and cost nothing. */
export function createGraphqlRouter(deps: GraphqlRouterDeps): Router {
  const { core, admission, serveStaticFiles, log } = deps;
  const guides = readGuides("services/graphql/docs", new URL("../docs/", import.meta.url));
  const schema = buildPetSchema();
  const apollo = createApolloServer(deps, schema);
  const readDocument = createDocumentReader(schema);
  const persistedQueries = createPersistedQueries();

  const answer: RequestHandler = async (req, res) => {
    // `negotiate` found no acceptable media type.
    if (!res.hasHeader("Content-Type")) throw new Problem("NOT_ACCEPTABLE", notAcceptable);
    const request = await readGraphqlRequest(req, res);
    await admission.confirmKey(req, res);
    await respondToGraphql({ apollo, core, readDocument, persistedQueries, log }, request, res);
  };

  const router = Router({ caseSensitive: true, strict: true });
  router
    .route("/graphql")
    .all(onRoute("/graphql"), negotiate, admission.admit)
    .get(answer)
    .post(answer)
    .all(methodNotAllowed("GET", "HEAD", "POST"));
  router.get("/", onRoute("static"), async (_req, res) => {
    await admission.reportAddressQuota(res);
    res.redirect("/graphiql");
  });
  const schemaText = {
    path: "/schema.graphql",
    mediaType: "text/plain; charset=utf-8",
    content: `${printSchema(schema)}\n`,
  };
  router.use(serveStaticFiles([schemaText, ...graphiqlFiles(guides)]));
  router.use(answerProblems(deps, (problem, res) => JSON.stringify({ errors: [formatRefusal(problem, res)] })));
  return router;
}

/**
 * The Apollo Server that executes every operation. We call its `executeOperation` and do not use its HTTP integration,
 * because admission must run before the body is read. The document is already parsed and validated, so Apollo Server's
 * options for HTTP, parsing and validation have no effect here.
 */
function createApolloServer(
  { admission, log, plugins = [] }: GraphqlRouterDeps,
  schema: GraphQLSchema,
): ApolloServer<OperationContext> {
  const server = new ApolloServer<OperationContext>({
    schema,
    documentStore: null,
    persistedQueries: false,
    formatError: (_formatted, error) => formatExecutionError(error),
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    logger: {
      debug: () => {},
      info: () => {},
      warn: (message: unknown) => log.warn({ error: message }, "apollo"),
      error: (message: unknown) => log.error({ error: message }, "apollo"),
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

/** Chooses the media type of every response, refusals included. If none is acceptable, `answer` throws 406 after admission. */
const negotiate: RequestHandler = (req, res, next) => {
  const mediaType = acceptedType(req, [jsonMediaType, graphqlMediaType]);
  if (mediaType !== undefined) res.setHeader("Content-Type", mediaType);
  next();
};

const notAcceptable = "The Accept header excludes application/json and application/graphql-response+json.";
