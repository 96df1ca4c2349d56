/**
 * Handles a request: reads it, finds the document, plans the operation, has Apollo Server execute it, and makes the reply.
 */
import type { ApolloServer } from "@apollo/server";
import { type Catalogue, Problem, type ProblemCode, type Ticket } from "@petstore/core";
import type { AcceptableRequest, AccountTurns, Failure, Handler, HttpRequest, Reply } from "@petstore/http";
import type { FormattedExecutionResult, GraphQLFormattedError, GraphQLSchema } from "graphql";
import { formatProblem, problemsIn } from "./graphql-errors.js";
import { type GraphqlRequest, readGraphqlRequest } from "./graphql-request.js";
import type { ParsedDocument } from "./operation/document-parser.js";
import type { DocumentStore } from "./operation/document-store.js";
import type { Documents } from "./operation/documents.js";
import { createOperationCatalogue } from "./operation/operation-catalogue.js";
import { type Plan, planOperation } from "./operation/plan-operation.js";
import type { OperationContext } from "./schema/pet-resolver.js";

interface GraphqlHandlerDeps {
  readonly schema: GraphQLSchema;
  readonly apollo: Pick<ApolloServer<OperationContext>, "executeOperation">;
  readonly catalogue: Catalogue;
  readonly documents: Documents;
  readonly documentStore: DocumentStore;
  /** For bodies and documents. */
  readonly accountTurns: AccountTurns;
  /** For pages, which must not wait behind documents: until its pages are complete, an operation keeps its document. */
  readonly pageTurns: AccountTurns;
}

/** The newer media type of GraphQL over HTTP. The default is application/json. */
export const graphqlMediaType = "application/graphql-response+json; charset=utf-8";

/**
 * Characters of a document that are parsed in one turn of an account. A document of this length takes up to 1 ms, and none
 * takes more than 3 ms.
 */
const charactersPerTurn = 1_024;

/** Of refusals after a document was read. A document that is refused itself has been answered before. */
const requestErrorCodes: readonly ProblemCode[] = ["GRAPHQL_VALIDATION_FAILED", "VALIDATION_FAILED"];

/** Handles a GraphQL request: reads it, finds its document, plans the operation, has it executed, and replies. */
export function createGraphqlHandler(deps: GraphqlHandlerDeps): Handler {
  const { schema, apollo, catalogue, documents, documentStore, accountTurns, pageTurns } = deps;

  return async (request, ticket) => {
    const sent = await readGraphqlRequest(request, ticket, accountTurns);
    const parsed = await findDocument(sent, request, ticket);
    if (parsed === undefined) return requestError(request, persistedQueryNotFound);
    if (parsed.kind === "refused") return requestError(request, new Problem(parsed.code), parsed.errors);

    const { operationName, variables } = sent;
    const plan = planOperation(schema, {
      document: parsed.document,
      operationName,
      variables,
      method: request.method,
    });
    const operationCatalogue = createOperationCatalogue(catalogue, ticket, pageTurns, request.response);
    const contextValue = {
      caller: ticket.caller,
      catalogue: operationCatalogue,
      plan,
      extend: (cost: number) => ticket.extend(cost),
    };
    const { body } = await documentStore.holding(parsed, () =>
      apollo.executeOperation(
        { query: parsed.text, variables, ...(operationName !== undefined && { operationName }) },
        { contextValue },
      ),
    );
    if (body.kind === "incremental") throw new Error("the schema has no incremental delivery");
    return replyTo(request, plan, body.singleResult, operationCatalogue.created());
  };

  function findDocument(
    { query, persistedQueryHash = "" }: GraphqlRequest,
    { response }: HttpRequest,
    { caller: { accountId } }: Ticket,
  ): ParsedDocument | undefined | Promise<ParsedDocument> {
    if (query === undefined) return documents.find(persistedQueryHash);
    const turn = { accountId, bytes: query.length, cost: query.length / charactersPerTurn, response };
    return documents.read({ text: query, accountId, isPersisted: persistedQueryHash !== "" }, (parse) =>
      accountTurns.run(turn, parse),
    );
  }
}

/**
 * The status is 200 after an execution, even if fields have errors. Exception: if a field failed with SERVICE_UNAVAILABLE and
 * no `createPet` succeeded, the request fails with this problem. The client then gets 503 and its units back, as in the REST
 * API.
 *
 * If the operation was not executed, the reply to a refusal with one of `requestErrorCodes` is a GraphQL request error. With
 * any other refusal the request fails.
 */
function replyTo(
  request: AcceptableRequest,
  plan: Plan,
  result: FormattedExecutionResult,
  created: readonly { readonly replayed: boolean }[],
): Reply | Failure {
  const { data, errors = [] } = result;
  const { operation } = plan;
  const problems = problemsIn(errors);

  // Without `data` the operation was not executed, and the first problem is the reason.
  const [refusal] = data === undefined ? problems : [];
  if (refusal !== undefined) {
    if (requestErrorCodes.includes(refusal.code)) return { ...requestError(request, refusal, errors), operation };
    if (plan.outcome === "refused" && plan.problem === refusal) return plan;
    return { problem: refusal, operation };
  }
  const unavailable = problems.find(({ code }) => code === "SERVICE_UNAVAILABLE");
  // If a `createPet` succeeded, the client must not repeat the operation, and its units stay used.
  if (unavailable !== undefined && created.length === 0) return { problem: unavailable, operation };

  const isReplay = created.length > 0 && created.every(({ replayed }) => replayed);
  return {
    status: 200,
    headers: { "Content-Type": request.mediaType, ...(isReplay && { "Idempotency-Replayed": "true" }) },
    body: JSON.stringify({ ...result, extensions: { ...result.extensions, cost: operation?.cost } }),
    problems,
    operation,
  };
}

/** urql recognises this error by its message, Apollo Client by its message or its code. */
const persistedQueryNotFound = new Problem("PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound");

/**
 * A GraphQL request error: the operation was not executed. GraphQL over HTTP, sections 6.4.1 and 6.4.2: a client of
 * application/json relies on the body only if the status is 200. A client of `graphqlMediaType` relies on the body with any
 * status.
 */
function requestError(
  request: AcceptableRequest,
  problem: Problem,
  errors: readonly GraphQLFormattedError[] = [formatProblem(problem)],
): Reply {
  return {
    status: request.mediaType === graphqlMediaType ? 400 : 200,
    headers: { "Content-Type": request.mediaType },
    body: JSON.stringify({ errors }),
    problems: [problem],
  };
}
