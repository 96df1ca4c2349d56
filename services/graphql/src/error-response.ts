import { containsKey, Problem, type ProblemCode } from "@petstore/core";
import { addHelpLink, contextOf, sendJson } from "@petstore/http";
import type { Response } from "express";
import { GraphQLError, type GraphQLFormattedError } from "graphql";

/** The newer media type of GraphQL over HTTP. The default is application/json. */
export const graphqlMediaType = "application/graphql-response+json; charset=utf-8";

/** The extensions are the code, the status and the Retry-After of the REST API. */
export function formatProblem({ message, code, status, retryAfterSeconds }: Problem): GraphQLFormattedError {
  const extensions = { code, status, ...(retryAfterSeconds && { retryAfter: retryAfterSeconds }) };
  return { message: withoutKey(message), extensions };
}

/** Messages repeat names and literals of the document. One of them can be an API key, sent there by mistake. */
function withoutKey(message: string): string {
  return containsKey(message) ? "The message is left out, because it would contain an API key." : message;
}

/** A 429 repeats the X-RateLimit headers, because few GraphQL clients show headers. */
export function formatRefusal(problem: Problem, res: Response): GraphQLFormattedError {
  const error = formatProblem(problem);
  if (problem.status !== 429) return error;
  const header = (name: string) => Number(res.getHeader(`X-RateLimit-${name}`));
  const rateLimit = { limit: header("Limit"), remaining: header("Remaining"), reset: header("Reset") };
  return { ...error, extensions: { ...error.extensions, ...rateLimit } };
}

/** For an error of a plugin or a resolver. Masks unexpected errors. */
export function formatExecutionError(error: unknown): GraphQLFormattedError {
  const { locations, path } = error instanceof GraphQLError ? error : {};
  return { ...formatProblem(problemOf(error)), ...(locations && { locations }), ...(path && { path }) };
}

/**
 * During the execution, graphql itself finds one error of a client: a null variable for an argument that must not be null
 * (GraphQL specification, section 5.8.5). This error names its node. Other errors of graphql are our faults.
 */
export function problemOf(error: unknown): Problem {
  const thrown = error instanceof GraphQLError ? (error.originalError ?? error) : error;
  const isNullArgument = thrown instanceof GraphQLError && thrown.nodes !== undefined;
  return isNullArgument ? new Problem("VALIDATION_FAILED", thrown.message) : Problem.from(thrown);
}

/**
 * GraphQL over HTTP, sections 6.4.1 and 6.4.2: a client of application/json relies on the body only if the status is 200. A
 * client of `graphqlMediaType` relies on the body with any status.
 */
export function sendRequestError(res: Response, code: ProblemCode, errors: readonly GraphQLFormattedError[]): void {
  contextOf(res).problemCode = code;
  addHelpLink(res, code);
  const status = res.getHeader("Content-Type") === graphqlMediaType ? 400 : 200;
  sendJson(res, status, JSON.stringify({ errors }));
}
