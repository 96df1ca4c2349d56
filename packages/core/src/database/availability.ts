import { DatabaseError } from "pg";
import { Problem } from "../problem.js";

/**
 * SQLSTATE classes and codes that say "not now" rather than "never": connection lost (08), resources and disk used up
 * (53), operator intervention and the statement timeout (57), system error (58), a standby that takes no writes (25006),
 * a transaction cut off (25P0x), rolled back to resolve a conflict (40), and a lock not had in time (55P03).
 */
const transient = /^(08|53|57|58|25006|25P0|40|55P03)/;

/**
 * What a failed connection or query means to a caller: SERVICE_UNAVAILABLE when trying again can help. Whatever is not
 * an answer of the server itself (a refused connection, a timeout, a broken socket) is of that kind.
 */
export function asProblem(error: unknown): Problem {
  if (error instanceof DatabaseError && !transient.test(error.code ?? "")) return Problem.from(error);
  return new Problem("SERVICE_UNAVAILABLE", "The database is away; try again shortly.", {
    cause: error,
    retryAfterSeconds: 1,
  });
}

/** The SQLSTATE behind a Problem that a query raised, if the server gave one. */
export function sqlState(problem: unknown): string | undefined {
  const cause = problem instanceof Problem ? problem.cause : undefined;
  return cause instanceof DatabaseError ? cause.code : undefined;
}
