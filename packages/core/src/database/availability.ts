import { DatabaseError } from "pg";
import { Problem } from "../problem.js";

/**
 * SQLSTATE classes and codes that say "not now" rather than "never": connection lost (08), resources and disk used up
 * (53), operator intervention and the statement timeout (57), system error (58), a fallback that takes no writes (25006),
 * a transaction cut off (25P0x), rolled back to resolve a conflict (40), a lock not had in time (55P03), a database that
 * takes no connections (55000), does not exist (3D000) or refuses our user (28), until an operator has seen to it, and a
 * plan prepared before a migration (0A000), which a new connection prepares anew.
 */
const transient = /^(08|28|53|57|58|25006|25P0|3D000|40|55000|55P03|0A000)/;

/** A statement that is cut off at its limit, and a lock that is not granted in time. */
const late = /^(57014|55P03)/;

/** Nothing was heard from the database, or no connection to it came free, within the limit. */
export class DatabaseTimeout extends Error {
  override readonly name = "DatabaseTimeout";
}

/**
 * The Problem for a failed connection or query: SERVICE_UNAVAILABLE when trying again can help. Every error that the
 * server itself did not send (a refused connection, a timeout, a broken socket) is of that kind.
 */
export function asProblem(error: unknown): Problem {
  const code = error instanceof DatabaseError ? (error.code ?? "") : undefined;
  if (code !== undefined && !transient.test(code)) return Problem.from(error);
  const isLate = error instanceof DatabaseTimeout || late.test(code ?? "");
  return isLate ? unavailable("The database did not answer in time", error) : databaseUnavailable(error);
}

export function databaseUnavailable(cause: unknown): Problem {
  return unavailable("The database is unavailable", cause);
}

function unavailable(reason: string, cause: unknown): Problem {
  return new Problem("SERVICE_UNAVAILABLE", `${reason}; try again shortly.`, { cause, retryAfterSeconds: 1 });
}

/**
 * Whether a query that only reads may be sent again at once on another connection: its own was ended by the server, or
 * does not hold it prepared as it was sent (26000 after a preparation that failed, 0A000 after a migration).
 */
export function isForAnotherConnection(error: unknown): boolean {
  return error instanceof DatabaseError && /^(08|57P0|26000|0A000)/.test(error.code ?? "");
}

/** The SQLSTATE behind a Problem that a query raised, if the server gave one. */
export function sqlState(problem: unknown): string | undefined {
  const cause = problem instanceof Problem ? problem.cause : undefined;
  return cause instanceof DatabaseError ? cause.code : undefined;
}

/**
 * True if a statement gave up waiting for a row that another transaction is writing. PostgreSQL then tells the place of
 * the row; it tells no place for a lock of a whole table.
 */
export function isRowWait(problem: unknown): boolean {
  const cause = problem instanceof Problem ? problem.cause : undefined;
  return cause instanceof DatabaseError && cause.code === "55P03" && cause.where !== undefined;
}
