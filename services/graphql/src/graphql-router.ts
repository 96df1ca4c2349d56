import type { ApolloServerPlugin } from "@apollo/server";
import { Problem } from "@petstore/core";
import {
  acceptedType,
  answerProblems,
  createAccountTurns,
  jsonMediaType,
  methodNotAllowed,
  onRoute,
  type RouterDeps,
} from "@petstore/http";
import { type RequestHandler, Router } from "express";
import { createApolloServer } from "./apollo-server.js";
import { formatRefusal, graphqlMediaType } from "./error-response.js";
import { readGraphqlRequest } from "./graphql-request.js";
import { respondToGraphql } from "./graphql-response.js";
import { createDocuments } from "./operation/documents.js";
import { buildPetSchema, type OperationContext } from "./schema/pet-resolver.js";
import { readGraphqlFiles } from "./static-files.js";

export interface GraphqlRouterDeps extends RouterDeps {
  /** They see every operation whose document is valid. */
  readonly plugins?: readonly ApolloServerPlugin<OperationContext>[];
}

/** The GraphQL API, its schema, and GraphiQL. The schema and GraphiQL need no key and cost nothing. */
export function createGraphqlRouter(deps: GraphqlRouterDeps): Router {
  const { core, admission, accountTurns, serveStaticFiles, log, plugins = [] } = deps;
  const schema = buildPetSchema();
  const apollo = createApolloServer(deps, schema, plugins);
  const documents = createDocuments(schema);
  const pageTurns = createAccountTurns();

  const answer: RequestHandler = async (req, res) => {
    // `negotiate` found no acceptable media type.
    if (!res.hasHeader("Content-Type")) throw new Problem("NOT_ACCEPTABLE", notAcceptable);
    const request = await readGraphqlRequest(req, res, deps);
    await respondToGraphql({ admission, apollo, core, documents, accountTurns, pageTurns, log }, request, res);
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
  router.use(serveStaticFiles(readGraphqlFiles(schema)));
  router.use(answerProblems(deps, (problem, res) => JSON.stringify({ errors: [formatRefusal(problem, res)] })));
  return router;
}

/** Chooses the media type of every response at `/graphql`. If none is acceptable, `answer` throws 406 after admission. */
const negotiate: RequestHandler = (req, res, next) => {
  const mediaType = acceptedType(req, [jsonMediaType, graphqlMediaType]);
  if (mediaType !== undefined) res.setHeader("Content-Type", mediaType);
  next();
};

const notAcceptable = "The Accept header excludes application/json and application/graphql-response+json.";
