import { Problem, type ProblemCode } from "@petstore/core";
import { addHelpLink, contextOf, sendJson } from "@petstore/http";
import type { Response } from "express";
import { GraphQLError, type GraphQLFormattedError } from "graphql";

/** The media type of GraphQL over HTTP; application/json is the other one. */
export const graphqlMediaType = "application/graphql-response+json; charset=utf-8";

/** A problem as an error of the response. The code and the status of the REST API are its extensions. */
export function formatProblem({ message, code, status, retryAfterSeconds }: Problem): GraphQLFormattedError {
  return { message, extensions: { code, status, ...(retryAfterSeconds && { retryAfter: retryAfterSeconds }) } };
}

/** The error of a request that is refused as a whole. A 429 repeats the X-RateLimit headers, which few clients show. */
export function formatRefusal(problem: Problem, res: Response): GraphQLFormattedError {
  const error = formatProblem(problem);
  if (problem.status !== 429) return error;
  const header = (name: string) => Number(res.getHeader(`X-RateLimit-${name}`));
  const rateLimit = { limit: header("Limit"), remaining: header("Remaining"), reset: header("Reset") };
  return { ...error, extensions: { ...error.extensions, ...rateLimit } };
}

/** An error that a plugin or a resolver threw. It is masked unless it is a problem. */
export function formatExecutionError(error: unknown): GraphQLFormattedError {
  const { locations, path } = error instanceof GraphQLError ? error : {};
  return { ...formatProblem(problemOf(error)), ...(locations && { locations }), ...(path && { path }) };
}

/**
 * The problem behind an error of the execution. The only error of a client that graphql itself finds in a valid document
 * names its node: a variable is null, and the argument must not be (GraphQL specification, section 5.8.5). All other errors
 * that graphql finds are our faults.
 */
export function problemOf(error: unknown): Problem {
  const thrown = error instanceof GraphQLError ? (error.originalError ?? error) : error;
  const isNullArgument = thrown instanceof GraphQLError && thrown.nodes !== undefined;
  return isNullArgument ? new Problem("VALIDATION_FAILED", thrown.message) : Problem.from(thrown);
}

/**
 * GraphQL over HTTP, sections 6.4.1 and 6.4.2: for clients of application/json a status other than 200 means that the body
 * may not be a GraphQL response. Clients of the newer media type read the status first.
 */
export function sendRequestError(res: Response, code: ProblemCode, errors: readonly GraphQLFormattedError[]): void {
  contextOf(res).problemCode = code;
  addHelpLink(res, code);
  const status = res.getHeader("Content-Type") === graphqlMediaType ? 400 : 200;
  sendJson(res, status, JSON.stringify({ errors }));
}
