import { Problem, type ProblemCode, problems } from "@petstore/core";
import { GraphQLError, type GraphQLFormattedError } from "graphql";

/** A problem as an error of the response: REST's code and status are its extensions. */
export function formatProblem({ message, code, status }: Problem): GraphQLFormattedError {
  return { message, extensions: { code, status } };
}

/** What graphql found wrong with the request itself, under a code of ours. */
export function formatRequestError({ message, locations }: GraphQLError, code: ProblemCode): GraphQLFormattedError {
  return { message, ...(locations && { locations }), extensions: { code, status: problems[code].status } };
}

/** An error that execution met, masked unless it is a problem. */
export function formatExecutionError(error: GraphQLError): GraphQLFormattedError {
  const { locations, path } = error;
  return { ...formatProblem(problemOf(error)), ...(locations && { locations }), ...(path && { path }) };
}

/**
 * What a resolver threw. graphql itself finds fault with an argument of a valid document, and names its node, only where
 * a variable that may be null was, and the argument may not be (GraphQL specification, section 5.8.5); other faults it
 * finds are ours.
 */
export function problemOf(error: GraphQLError): Problem {
  const thrown = error.originalError ?? error;
  const isNullArgument = thrown instanceof GraphQLError && thrown.nodes !== undefined;
  return isNullArgument ? new Problem("VALIDATION_FAILED", thrown.message) : Problem.from(thrown);
}
