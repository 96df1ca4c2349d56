/**
 * Reads a GraphQL request from a JSON body or a query string (draft "GraphQL over HTTP", sections 5.2 to 5.4). A batch is
 * refused.
 */
import { hash } from "node:crypto";
import type { ParsedUrlQuery } from "node:querystring";
import { Problem, type Ticket } from "@petstore/core";
import { type AccountTurns, type HttpRequest, inTurn, maxJsonDepth, parseExactJson, readJson } from "@petstore/http";

export interface GraphqlRequest {
  /** Absent if the client sent only the hash of a persisted query. */
  readonly query: string | undefined;
  /** The SHA-256 of a persisted query, in lower case. */
  readonly persistedQueryHash: string | undefined;
  readonly operationName: string | undefined;
  /** Integers as bigint. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** In `{ "variables": { "name": VALUE } }`, VALUE may be nested as deeply as a body of the REST API. */
const bodyDepth = maxJsonDepth + 2;

/** Throws VALIDATION_FAILED, INVALID_JSON, or any other problem of `readJson`. */
export async function readGraphqlRequest(
  request: HttpRequest,
  ticket: Ticket,
  accountTurns: AccountTurns,
): Promise<GraphqlRequest> {
  const sent = await (request.method === "POST"
    ? readJson(request, ticket, accountTurns, { maxDepth: bodyDepth })
    : readQueryString(request, ticket, accountTurns));
  if (!isObject(sent))
    return invalid("body must be a JSON object with query and optionally variables and operationName");
  const { query, operationName, variables, extensions } = sent;
  if (query != null && typeof query !== "string") return invalid("query must be a string");
  if (operationName != null && typeof operationName !== "string") return invalid("operationName must be a string");
  if (variables != null && !isObject(variables)) return invalid("variables must be a JSON object");
  if (extensions != null && !isObject(extensions)) return invalid("extensions must be a JSON object");
  const document = query || undefined;
  const persistedQueryHash = readPersistedQueryHash(extensions?.persistedQuery, document);
  if (document === undefined && persistedQueryHash === undefined) return invalid("query is required");
  return { query: document, persistedQueryHash, operationName: operationName || undefined, variables: variables ?? {} };
}

/** The variables in a URL of 16 KiB can cost as much as those in a body. */
function readQueryString(request: HttpRequest, ticket: Ticket, accountTurns: AccountTurns): unknown {
  return inTurn(accountTurns, request, ticket, request.url.length, () => readParameters(request.query));
}

function readParameters(parameters: ParsedUrlQuery): unknown {
  if (Object.values(parameters).some(Array.isArray)) invalid("no query parameter may be repeated");
  const { variables, extensions } = parameters;
  return { ...parameters, variables: fromJson(variables), extensions: fromJson(extensions) };
}

function fromJson(parameter: unknown): unknown {
  // A parameter has one level less than a body: the outer object is missing.
  return typeof parameter === "string" && parameter !== "" ? parseExactJson(parameter, bodyDepth - 1) : undefined;
}

/** Returns the hash in lower case. Throws VALIDATION_FAILED if it is malformed, or not the hash of `document`. */
function readPersistedQueryHash(persistedQuery: unknown, document: string | undefined): string | undefined {
  if (persistedQuery === undefined || persistedQuery === null) return undefined;
  const { version, sha256Hash } = persistedQuery as { readonly version?: unknown; readonly sha256Hash?: unknown };
  if (version !== 1n) invalid("extensions.persistedQuery.version must be 1");
  if (typeof sha256Hash !== "string" || !/^[0-9a-f]{64}$/i.test(sha256Hash)) {
    invalid("extensions.persistedQuery.sha256Hash must be a SHA-256 in hexadecimal");
  }
  if (document !== undefined && hash("sha256", document, "hex") !== sha256Hash.toLowerCase()) {
    invalid("extensions.persistedQuery.sha256Hash must be the SHA-256 of query");
  }
  return sha256Hash.toLowerCase();
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(message: string): never {
  throw new Problem("VALIDATION_FAILED", message);
}
