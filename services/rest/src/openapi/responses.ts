import { type JsonSchema, type ProblemCode, problems } from "@petstore/core";
import { commonHeaders, type HeaderName, headers } from "./headers.js";
import type { Operation } from "./operations.js";

/** Codes any operation can answer. */
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

/** A REST request costs one unit, which every limit admits, and holds no document. */
const codesOfGraphqlAlone: readonly ProblemCode[] = [
  "GRAPHQL_PARSE_FAILED",
  "GRAPHQL_VALIDATION_FAILED",
  "OPERATION_TOO_LARGE",
];

/** Every code the REST door answers. */
export const restCodes: readonly ProblemCode[] = (Object.keys(problems) as ProblemCode[]).filter(
  (code) => !codesOfGraphqlAlone.includes(code),
);

export interface ErrorResponse {
  readonly status: number;
  readonly codes: readonly ProblemCode[];
  readonly headers: readonly HeaderName[];
}

/** The errors of an operation, one for each status, ascending. */
export function errorResponses({ codes, routeHeaders }: Operation): readonly ErrorResponse[] {
  const possible = restCodes.filter((code) => codes.includes(code) || commonCodes.includes(code));
  const statuses = [...new Set(possible.map((code) => problems[code].status))].sort((a, b) => a - b);
  return statuses.map((status) => ({
    status,
    codes: possible.filter((code) => problems[code].status === status),
    headers: [...commonHeaders, ...headersOfStatus(status), ...(beforeRouting.includes(status) ? [] : routeHeaders)],
  }));
}

/** Answered for what is no sound HTTP request, before any route is looked for. */
const beforeRouting: readonly number[] = [400, 408, 431];

function headersOfStatus(status: number): readonly HeaderName[] {
  if (status === 401) return ["WWW-Authenticate"];
  return [409, 429, 503].includes(status) ? ["Retry-After"] : [];
}

/** The `responses` of an operation in the document. */
export function responsesOf(operation: Operation): JsonSchema {
  const { success, routeHeaders } = operation;
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
      headers: headerReferences([...commonHeaders, ...success.headers, ...routeHeaders]),
      content: { "application/json": { schema: success.schema, examples: success.examples } },
    },
    ...Object.fromEntries(errors),
  };
}

function headerReferences(names: readonly HeaderName[]): JsonSchema {
  return Object.fromEntries(names.map((name) => [headers[name].field, { $ref: `#/components/headers/${name}` }]));
}
