import { type JsonSchema, type ProblemCode, problems } from "@petstore/core";
import { commonHeaders, type HeaderName, headers } from "./headers.js";
import type { Operation } from "./operations.js";

/** The error codes of every operation. */
const commonCodes: readonly ProblemCode[] = [
  "MALFORMED_REQUEST",
  "API_KEY_MISSING",
  "API_KEY_INVALID",
  "API_KEY_EXPIRED",
  "API_KEY_REVOKED",
  "NOT_ACCEPTABLE",
  "REQUEST_TIMEOUT",
  "RATE_LIMIT_EXCEEDED",
  "DAILY_QUOTA_EXCEEDED",
  "API_KEY_BANNED",
  "HEADERS_TOO_LARGE",
  "INTERNAL_ERROR",
  "SERVICE_UNAVAILABLE",
];

/** Codes that REST never returns: a REST request has no GraphQL document, and its cost of 1 is never above a limit. */
const graphqlOnlyCodes: readonly ProblemCode[] = [
  "GRAPHQL_PARSE_FAILED",
  "GRAPHQL_VALIDATION_FAILED",
  "OPERATION_TOO_LARGE",
];

/** All error codes of the REST API. */
export const restCodes: readonly ProblemCode[] = (Object.keys(problems) as ProblemCode[]).filter(
  (code) => !graphqlOnlyCodes.includes(code),
);

export interface ErrorResponse {
  readonly status: number;
  readonly codes: readonly ProblemCode[];
  readonly headers: readonly HeaderName[];
}

/** The error responses of an operation, one per status, in ascending order. */
export function errorResponses({ codes, routeHeaders = [] }: Operation): readonly ErrorResponse[] {
  const possible = restCodes.filter((code) => codes.includes(code) || commonCodes.includes(code));
  const statuses = [...new Set(possible.map((code) => problems[code].status))].sort((a, b) => a - b);
  return statuses.map((status) => ({
    status,
    codes: possible.filter((code) => problems[code].status === status),
    headers: [
      ...commonHeaders,
      ...headersOfStatus(status),
      ...(statusesBeforeRouting.includes(status) ? [] : routeHeaders),
    ],
  }));
}

/** Statuses of malformed HTTP requests. They are sent before routing, so they have no headers of a route. */
const statusesBeforeRouting: readonly number[] = [400, 408, 431];

function headersOfStatus(status: number): readonly HeaderName[] {
  if (status === 401) return ["WWW-Authenticate"];
  return [409, 429, 503].includes(status) ? ["Retry-After"] : [];
}

/** The `responses` object of an operation. */
export function responsesOf(operation: Operation): JsonSchema {
  const { success, routeHeaders = [] } = operation;
  const errors = errorResponses(operation).map(({ status, codes, headers: names }) => [
    status,
    {
      description: codes.map((code) => `\`${code}\`: ${problems[code].meaning}`).join("\n\n"),
      headers: headerReferences(names),
      content: {
        "application/json": {
          schema: { $ref: "#/components/schemas/Error" },
          examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
        },
      },
    },
  ]);
  return {
    [success.status]: {
      description: success.description,
      headers: headerReferences([...commonHeaders, ...(success.headers ?? []), ...routeHeaders]),
      content: { "application/json": { schema: success.schema, examples: success.examples } },
    },
    ...Object.fromEntries(errors),
  };
}

function headerReferences(names: readonly HeaderName[]): JsonSchema {
  return Object.fromEntries(
    names.map((name) => [headers[name].field ?? name, { $ref: `#/components/headers/${name}` }]),
  );
}
