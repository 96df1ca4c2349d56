import type { ApolloServer } from "@apollo/server";
import { type Catalogue, Problem, type ProblemCode, type Ticket } from "@petstore/core";
import type { AccountTurns, Handler, HttpRequest, Reply } from "@petstore/http";
import type { GraphQLFormattedError, GraphQLSchema } from "graphql";
import { formatProblem, problemsIn } from "./graphql-errors.js";
import { readGraphqlRequest } from "./graphql-request.js";
import type { DocumentStore } from "./operation/document-store.js";
import type { Documents, InTurn } from "./operation/documents.js";
import { createOperationCatalogue } from "./operation/operation-catalogue.js";
import { planOperation } from "./operation/plan-operation.js";
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

const requestErrorCodes: readonly ProblemCode[] = ["GRAPHQL_VALIDATION_FAILED", "VALIDATION_FAILED"];

/**
 * Executes a GraphQL request. The status is 200 after an execution, even if fields have errors. Exception: if a field failed
 * with SERVICE_UNAVAILABLE and no `createPet` succeeded, the request fails with this problem. The client then gets 503 and
 * its units back, as in the REST API.
 *
 * If the operation is not executed, the reply is a GraphQL request error (`requestError`) for a syntax error, an unknown
 * persisted query, or a refusal with one of `requestErrorCodes`. With any other refusal the request fails.
 */
export function createGraphqlHandler(deps: GraphqlHandlerDeps): Handler {
  const { schema, apollo, catalogue, documents, documentStore, accountTurns, pageTurns } = deps;

  return async (request, ticket) => {
    const { query, persistedQueryHash, operationName, variables } = await readGraphqlRequest(
      request,
      ticket,
      accountTurns,
    );
    const isPersisted = persistedQueryHash !== undefined;
    const parsed =
      query === undefined
        ? documents.find(persistedQueryHash ?? "")
        : await documents.read(
            { text: query, accountId: ticket.caller.accountId, isPersisted },
            parsingInTurn(accountTurns, request, ticket, query.length),
          );
    if (parsed === undefined) return requestError(request, persistedQueryNotFound);
    if (parsed.kind === "refused") return requestError(request, new Problem(parsed.code), parsed.errors);

    const { document, text } = parsed;
    const plan = planOperation(schema, { document, operationName, variables, method: request.method });
    const operationCatalogue = createOperationCatalogue(catalogue, ticket, pageTurns, request.response);
    const contextValue = { caller: ticket.caller, catalogue: operationCatalogue, plan, extend: ticket.extend };
    const { body } = await documentStore.holding(parsed, () =>
      apollo.executeOperation(
        { query: text, variables, ...(operationName !== undefined && { operationName }) },
        { contextValue },
      ),
    );
    if (body.kind === "incremental") throw new Error("the schema has no incremental delivery");
    const { data, errors = [] } = body.singleResult;
    const { operation } = plan;
    const problems = problemsIn(errors);

    // Without `data` the operation was not executed, and the first problem is the reason.
    const [refusal] = data === undefined ? problems : [];
    if (refusal !== undefined) {
      if (requestErrorCodes.includes(refusal.code)) return { ...requestError(request, refusal, errors), operation };
      const isPlanned = plan.outcome === "refused" && plan.problem === refusal;
      return { problem: refusal, operation, ...(isPlanned && plan.headers && { headers: plan.headers }) };
    }
    const created = operationCatalogue.created();
    const unavailable = problems.find(({ code }) => code === "SERVICE_UNAVAILABLE");
    // If a `createPet` succeeded, the client must not repeat the operation, and its units stay used.
    if (unavailable !== undefined && created.length === 0) return { problem: unavailable, operation };

    const isReplay = created.length > 0 && created.every(({ replayed }) => replayed);
    const extensions = { ...body.singleResult.extensions, cost: operation?.cost };
    return {
      status: 200,
      headers: { ...contentType(request), ...(isReplay && { "Idempotency-Replayed": "true" }) },
      body: JSON.stringify({ ...body.singleResult, extensions }),
      problems,
      operation,
    };
  };
}

function parsingInTurn(turns: AccountTurns, { response }: HttpRequest, ticket: Ticket, length: number): InTurn {
  const { accountId } = ticket.caller;
  return (parse) => turns.run({ accountId, bytes: length, cost: length / charactersPerTurn, response }, parse);
}

/** urql recognises this error by its message, Apollo Client by its message or its code. */
const persistedQueryNotFound = new Problem("PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound");

/**
 * GraphQL over HTTP, sections 6.4.1 and 6.4.2: a client of application/json relies on the body only if the status is 200. A
 * client of `graphqlMediaType` relies on the body with any status.
 */
function requestError(
  request: HttpRequest,
  problem: Problem,
  errors: readonly GraphQLFormattedError[] = [formatProblem(problem)],
): Reply {
  return {
    status: request.mediaType === graphqlMediaType ? 400 : 200,
    headers: contentType(request),
    body: JSON.stringify({ errors }),
    problems: [problem],
  };
}

function contentType({ mediaType = "" }: HttpRequest): { readonly "Content-Type": string } {
  return { "Content-Type": mediaType };
}
