import type { ApolloServer } from "@apollo/server";
import { type Core, type Log, Problem, type ProblemCode } from "@petstore/core";
import {
  type AccountTurns,
  type Admission,
  addHelpLink,
  admittedKeyOf,
  callerOf,
  contextOf,
  sendJson,
  setProblemHeaders,
} from "@petstore/http";
import type { Response } from "express";
import { formatProblem, sendRequestError } from "./error-response.js";
import type { GraphqlRequest } from "./graphql-request.js";
import type { Documents, InTurn } from "./operation/documents.js";
import { withPagesInTurn } from "./operation/pages-in-turn.js";
import type { OperationContext } from "./schema/pet-resolver.js";

export interface GraphqlExecutionDeps {
  readonly admission: Pick<Admission, "checkKeyAgain">;
  readonly apollo: Pick<ApolloServer<OperationContext>, "executeOperation">;
  readonly core: Pick<Core, "catalogue">;
  readonly documents: Documents;
  /** For documents. */
  readonly accountTurns: AccountTurns;
  /** For pages, which must not wait behind documents: until its pages are complete, an operation keeps its document. */
  readonly pageTurns: AccountTurns;
  readonly log: Log;
}

/**
 * Characters of a document that are parsed in one turn of an account. A document of this length takes up to 1 ms, and none
 * takes more than 3 ms.
 */
const charactersPerTurn = 1_024;

const requestErrorCodes: readonly ProblemCode[] = ["GRAPHQL_VALIDATION_FAILED", "VALIDATION_FAILED"];

/** urql recognises this error by its message, Apollo Client by its message or its code. */
const persistedQueryNotFound = formatProblem(new Problem("PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound"));

/**
 * Executes an admitted request and sends the response. The status is 200 after an execution, also if fields have errors.
 * Exception: if a field failed with SERVICE_UNAVAILABLE and no `createPet` succeeded, throws this problem. The client then
 * gets 503 and its units back, as in the REST API.
 *
 * If the operation is not executed, sends a GraphQL request error (`sendRequestError`) for a syntax error, an unknown
 * persisted query, or a refusal with one of `requestErrorCodes`. Throws every other refusal.
 */
export async function respondToGraphql(
  { admission, apollo, core, documents, accountTurns, pageTurns, log }: GraphqlExecutionDeps,
  { query, persistedQueryHash, operationName, variables }: GraphqlRequest,
  res: Response,
): Promise<void> {
  const { accountId } = admittedKeyOf(res);
  const read = (text: string) => {
    const request = { accountId, bytes: text.length, cost: text.length / charactersPerTurn, response: res };
    const inTurn: InTurn = (parse) => accountTurns.run(request, parse);
    return documents.read({ text, accountId, isPersisted: persistedQueryHash !== undefined }, inTurn);
  };
  const parsed = query === undefined ? documents.find(persistedQueryHash ?? "") : await read(query);
  if (parsed === undefined) return sendRequestError(res, "PERSISTED_QUERY_NOT_FOUND", [persistedQueryNotFound]);
  if (parsed.kind === "refused") return sendRequestError(res, parsed.code, parsed.errors);

  const context: OperationContext = {
    res,
    document: parsed.document,
    catalogue: withPagesInTurn(core.catalogue, pageTurns, { accountId, response: res }),
    caller: callerOf(res),
    async currentCaller() {
      await admission.checkKeyAgain(res.req, res);
      return callerOf(res);
    },
    createResults: [],
    problems: [],
  };
  const { body } = await apollo.executeOperation(
    { query: parsed.text, variables, ...(operationName !== undefined && { operationName }) },
    { contextValue: context },
  );
  if (body.kind === "incremental") throw new Error("the schema has no incremental delivery");
  const { data, errors = [] } = body.singleResult;
  const { problems, createResults } = context;

  // Without `data` the operation was not executed, and the first problem is the reason.
  const refusal = data === undefined ? problems[0] : undefined;
  if (refusal !== undefined) {
    if (!requestErrorCodes.includes(refusal.code)) throw refusal;
    return sendRequestError(res, refusal.code, errors);
  }
  const unavailable = problems.find(({ code }) => code === "SERVICE_UNAVAILABLE");
  // If a `createPet` succeeded, the client must not repeat the operation, and its units stay used.
  if (unavailable !== undefined && createResults.length === 0) throw unavailable;

  const isReplay = createResults.length > 0 && createResults.every(({ replayed }) => replayed);
  if (isReplay) res.setHeader("Idempotency-Replayed", "true");
  const requestContext = contextOf(res);
  if (problems[0] !== undefined) {
    requestContext.problemCode = (problems.find(({ status }) => status >= 500) ?? problems[0]).code;
    addHelpLink(res, problems[0].code);
  }
  for (const problem of problems) {
    setProblemHeaders(res, problem);
    if (problem.status < 500) continue;
    log.error({ requestId: requestContext.id, code: problem.code, error: problem.cause }, "operation failed");
  }
  const extensions = { ...body.singleResult.extensions, cost: requestContext.operation?.cost };
  sendJson(res, 200, JSON.stringify({ ...body.singleResult, extensions }));
}
