import { DatabaseError } from "pg";

/** True if the role of the connection may not see what it asked for: SQLSTATE 42501. */
export function isInsufficientPrivilege(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "42501";
}
