import { DatabaseError } from "pg";
import { Problem } from "../problem.js";

/**
 * SQLSTATE classes and codes of errors after which another attempt may succeed:
 *
 * - soon: connection lost (08), disk or connections used up (53), operator intervention and the statement timeout (57),
 *   system error (58), a read-only replica (25006), a transaction cut off (25P0x), a conflict between transactions (40), a
 *   lock timeout (55P03)
 * - after a repair by an operator: the database takes no connections (55000), does not exist (3D000) or refuses our user
 *   (28)
 * - on a new connection: a prepared statement that is missing (26000) or out of date after a migration (0A000)
 */
const transient = /^(08|26000|28|53|57|58|25006|25P0|3D000|40|55000|55P03|0A000)/;

/** The statement timeout and the lock timeout. */
const late = /^(57014|55P03)/;

/** The database did not answer in time, or no connection became free in time. */
export class DatabaseTimeout extends Error {
  override readonly name = "DatabaseTimeout";
}

/** SERVICE_UNAVAILABLE if a retry can help, or if PostgreSQL did not send the error, as with a broken socket. */
export function asProblem(error: unknown): Problem {
  const code = sqlState(error);
  if (code !== undefined && !transient.test(code)) return Problem.from(error);
  const isLate = error instanceof DatabaseTimeout || late.test(code ?? "");
  return isLate ? databaseUnavailable(error, "The database did not answer in time") : databaseUnavailable(error);
}

export function databaseUnavailable(cause: unknown, reason = "The database is unavailable"): Problem {
  return new Problem("SERVICE_UNAVAILABLE", `${reason}; try again shortly.`, { cause, retryAfterSeconds: 1 });
}

/** True if the server ended the connection or cannot use its prepared statement. A read may then use another connection. */
export function canRetryOnAnotherConnection(error: unknown): boolean {
  return /^(08|57P0|26000|0A000)/.test(sqlState(error) ?? "");
}

/** The SQLSTATE of an error of PostgreSQL, or of a Problem with such a cause. `undefined` for other errors. */
export function sqlState(error: unknown): string | undefined {
  return databaseErrorOf(error)?.code;
}

/**
 * True if a statement gave up waiting for a row that another transaction is writing. PostgreSQL names the row in `where`;
 * for a lock of a whole table it names nothing.
 */
export function isRowLockTimeout(error: unknown): boolean {
  const databaseError = databaseErrorOf(error);
  return databaseError?.code === "55P03" && databaseError.where !== undefined;
}

function databaseErrorOf(error: unknown): DatabaseError | undefined {
  const cause = error instanceof Problem ? error.cause : error;
  return cause instanceof DatabaseError ? cause : undefined;
}
