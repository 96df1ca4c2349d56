import { Problem, type ProblemCode, problems } from "@petstore/core";
import { GraphQLError, type GraphQLFormattedError } from "graphql";

/** A problem as an error of the response. The code and the status of the REST API are its extensions. */
export function formatProblem({ message, code, status }: Problem): GraphQLFormattedError {
  return { message, extensions: { code, status } };
}

/** A syntax error or a validation error, with our code. */
export function formatRequestError({ message, locations }: GraphQLError, code: ProblemCode): GraphQLFormattedError {
  return { message, ...(locations && { locations }), extensions: { code, status: problems[code].status } };
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
