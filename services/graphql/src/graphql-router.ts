import { Problem } from "@petstore/core";
import {
  acceptedType,
  answerProblems,
  contextOf,
  jsonMediaType,
  methodNotAllowed,
  onRoute,
  type RouterDeps,
  sendJson,
} from "@petstore/http";
import { type GraphiqlOptions, graphiqlDocuments } from "@petstore/pages";
import { type RequestHandler, type Response, Router } from "express";
import { createDocuments } from "./documents.js";
import { formatProblem } from "./error-format.js";
import { createExecutor } from "./executor.js";
import { readGraphqlRequest } from "./graphql-request.js";
import { graphqlLinks } from "./links.js";
import { createOperations, type Unexecutable } from "./operation.js";
import { createOperationAnswer } from "./operation-answer.js";
import { buildPetSchema } from "./schema.js";

/** Units one operation may cost. */
const maxCost = 10;

export interface GraphqlRouterDeps extends RouterDeps {
  /** Where GraphiQL is and what it leads to; at `/`, and alone, unless another API is open on the same port. */
  readonly graphiql?: GraphiqlOptions;
}

/** The GraphQL API: `/graphql`, and GraphiQL to try it with, which needs no key to load and costs nothing. */
export function createGraphqlRouter(deps: GraphqlRouterDeps): Router {
  const { core, admission, serveDocuments, log, graphiql = graphiqlAlone() } = deps;
  const schema = buildPetSchema();
  const documents = createDocuments(schema);
  const prepare = createOperations(schema, documents);
  const execute = createExecutor({ schema, documents, log });
  const answerOperation = createOperationAnswer({ core, execute, log });

  const answer: RequestHandler = async (req, res) => {
    if (!res.hasHeader("Content-Type")) throw new Problem("NOT_ACCEPTABLE", notAcceptable);
    const request = await readGraphqlRequest(req, res);
    await admission.confirmKey(req, res);
    const operation = prepare(request);
    if (operation.kind === "unexecutable") return answerUnexecutable(operation, res);
    if (operation.type !== "query" && req.method !== "POST") {
      res.setHeader("Allow", "POST");
      throw new Problem("METHOD_NOT_ALLOWED", "Only POST can be used for a mutation.");
    }
    if (operation.cost > maxCost) throw new Problem("OPERATION_TOO_LARGE", tooLarge);
    if (operation.cost > 1) await admission.extend(res, operation.cost);
    await answerOperation(operation, res);
  };

  const router = Router({ caseSensitive: true, strict: true });
  router
    .route("/graphql")
    .all(onRoute("/graphql"), negotiate, admission.admit)
    .get(answer)
    .post(answer)
    .all(methodNotAllowed("GET", "HEAD", "POST"));
  router.use(serveDocuments(graphiqlDocuments(graphiql)));
  router.use(answerProblems(log, (problem) => JSON.stringify({ errors: [formatProblem(problem)] })));
  return router;
}

function graphiqlAlone(): GraphiqlOptions {
  return { path: "/", links: graphqlLinks("/") };
}

const responseMediaType = "application/graphql-response+json; charset=utf-8";

/** Chooses the media type of every response, refusals included. If none is acceptable, `answer` throws 406 after admission. */
const negotiate: RequestHandler = (req, res, next) => {
  const mediaType = acceptedType(req, [jsonMediaType, responseMediaType]);
  if (mediaType !== undefined) res.setHeader("Content-Type", mediaType);
  next();
};

/**
 * GraphQL over HTTP, sections 6.4.1 and 6.4.2: to clients of application/json another status than 200 says that the
 * body may not be GraphQL's; those of the newer media type read the status first.
 */
function answerUnexecutable({ code, errors }: Unexecutable, res: Response): void {
  contextOf(res).problem = code;
  const status = res.getHeader("Content-Type") === responseMediaType ? 400 : 200;
  sendJson(res, status, JSON.stringify({ errors }));
}

const notAcceptable = "The Accept header excludes application/json and application/graphql-response+json.";
const tooLarge = `An operation may have at most ${maxCost} root fields.`;
