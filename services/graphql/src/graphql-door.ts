import { Problem } from "@petstore/core";
import {
  acceptedType,
  answerProblems,
  type DoorDeps,
  exchangeOf,
  jsonMediaType,
  methodNotAllowed,
  onRoute,
  sendJson,
  serveDocuments,
} from "@petstore/http";
import { type GraphiqlOptions, graphiqlDocuments } from "@petstore/pages";
import { type Request, type RequestHandler, type Response, Router } from "express";
import { createDocuments } from "./documents.js";
import { formatProblem } from "./error-format.js";
import { createExecutor } from "./executor.js";
import { readGraphqlRequest } from "./graphql-request.js";
import { graphqlLinks } from "./links.js";
import { createOperations, type Operation, type Unexecutable } from "./operation.js";
import { createOperationAnswer } from "./operation-answer.js";
import { buildPetSchema } from "./schema.js";

/** Units one operation may cost. */
const maxCost = 10;

export interface GraphqlDoorDeps extends DoorDeps {
  /** Where GraphiQL is and what it leads to; at `/`, and alone, unless another door is open on the same port. */
  readonly graphiql?: GraphiqlOptions;
}

/** The GraphQL door: `/graphql`, and GraphiQL to try it with, which needs no key to load and costs nothing. */
export function createGraphqlDoor({ core, admission, log, graphiql = graphiqlAlone() }: GraphqlDoorDeps): Router {
  const schema = buildPetSchema();
  const documents = createDocuments(schema);
  const prepare = createOperations(schema, documents);
  const execute = createExecutor({ schema, documents, log });
  const answerOperation = createOperationAnswer({ catalogue: core.catalogue, execute, log });
  const prepared = new WeakMap<Response, Operation | Unexecutable>();

  /** Everything short of execution, in REST's order, before the request is counted: its cost is known only then. */
  async function costOf(req: Request, res: Response): Promise<number> {
    if (req.method !== "GET" && req.method !== "HEAD" && req.method !== "POST") return 1;
    if (!res.hasHeader("Content-Type")) throw new Problem("NOT_ACCEPTABLE", notAcceptable);
    const operation = prepare(await readGraphqlRequest(req, res));
    prepared.set(res, operation);
    if (operation.kind === "unexecutable") return 1;
    if (operation.type !== "query" && req.method !== "POST") {
      res.setHeader("Allow", "POST");
      throw new Problem("METHOD_NOT_ALLOWED", "Only POST can be used for a mutation.");
    }
    if (operation.cost > maxCost) throw new Problem("OPERATION_TOO_LARGE", tooLarge);
    return operation.cost;
  }

  const answer: RequestHandler = async (_req, res) => {
    const operation = prepared.get(res);
    if (operation === undefined) throw new Error("the operation was not prepared");
    if (operation.kind === "operation") await answerOperation(operation, res);
    else answerUnexecutable(operation, res);
  };

  const router = Router({ caseSensitive: true, strict: true });
  router
    .route("/graphql")
    .all(onRoute("/graphql"), negotiate, admission.admit(costOf))
    .get(answer)
    .post(answer)
    .all(methodNotAllowed("GET", "HEAD", "POST"));
  router.use(serveDocuments(admission, graphiqlDocuments(graphiql)));
  router.use(answerProblems(log, (problem) => JSON.stringify({ errors: [formatProblem(problem)] })));
  return router;
}

function graphiqlAlone(): GraphiqlOptions {
  return { path: "/", links: graphqlLinks("/") };
}

const responseMediaType = "application/graphql-response+json; charset=utf-8";

/** Chooses the media type of every answer, refusals included. That none will do is said behind admission. */
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
  exchangeOf(res).problem = code;
  const status = res.getHeader("Content-Type") === responseMediaType ? 400 : 200;
  sendJson(res, status, JSON.stringify({ errors }));
}

const notAcceptable = "The Accept header excludes application/json and application/graphql-response+json.";
const tooLarge = `An operation may have at most ${maxCost} root fields.`;
