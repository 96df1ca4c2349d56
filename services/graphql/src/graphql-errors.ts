/** Formats problems as GraphQL errors, and finds the problems behind the errors of a result. */
import { containsKey, Problem, type QuotaReport, remaining, reportedWindow } from "@petstore/core";
import { GraphQLError, type GraphQLFormattedError } from "graphql";

/** The extensions are the code, the status and the Retry-After of the REST API. */
export function formatProblem({ message, code, status, retryAfterSeconds }: Problem): GraphQLFormattedError {
  const extensions = { code, status, ...(retryAfterSeconds && { retryAfter: retryAfterSeconds }) };
  return { message: withoutKey(message), extensions };
}

/** Messages repeat names and literals of the document. One of them can be an API key, sent there by mistake. */
function withoutKey(message: string): string {
  return containsKey(message) ? "The message is left out, because it would contain an API key." : message;
}

/** The body of a request that fails as a whole. A 429 repeats the X-RateLimit headers, because few clients show headers. */
export function refusalBody(problem: Problem, quota: QuotaReport): string {
  const error = formatProblem(problem);
  if (problem.status !== 429) return JSON.stringify({ errors: [error] });
  const window = reportedWindow(quota);
  const rateLimit = {
    limit: window.limit,
    remaining: remaining(window),
    reset: Math.ceil(window.resetAtMs / 1_000),
  };
  return JSON.stringify({ errors: [{ ...error, extensions: { ...error.extensions, ...rateLimit } }] });
}

/** The key of a property that JSON leaves out. */
const problemKey: unique symbol = Symbol("the problem behind a formatted error");

/** A formatted error that keeps its problem, for the status, the headers and the log. */
interface ExecutionError extends GraphQLFormattedError {
  readonly [problemKey]: Problem;
}

/** For an error of a plugin or a resolver. Masks unexpected errors. */
export function formatExecutionError(error: unknown): GraphQLFormattedError {
  const { locations, path } = error instanceof GraphQLError ? error : {};
  const found = problemOf(error);
  const formatted: ExecutionError = {
    ...formatProblem(found),
    ...(locations && { locations }),
    ...(path && { path }),
    [problemKey]: found,
  };
  return formatted;
}

/** The problems behind formatted errors, in their order. A plugin may have added errors of its own, which have none. */
export function problemsIn(errors: readonly GraphQLFormattedError[]): readonly Problem[] {
  return errors.flatMap((error) => (problemKey in error ? [(error as ExecutionError)[problemKey]] : []));
}

/**
 * During the execution, graphql itself finds one error of a client: a null variable for an argument that must not be null
 * (GraphQL specification, section 5.8.5). This error names its node. Other errors of graphql are our faults.
 */
function problemOf(error: unknown): Problem {
  const thrown = error instanceof GraphQLError ? (error.originalError ?? error) : error;
  const isNullArgument = thrown instanceof GraphQLError && thrown.nodes !== undefined;
  return isNullArgument ? new Problem("VALIDATION_FAILED", thrown.message) : Problem.from(thrown);
}
