/** Says who calls, and checks the scope of the API key. */
import type { KeyScope } from "../access/key-scope.js";
import { Problem } from "../problem.js";

/** The account and the API key behind a request. The catalogue is told who calls, and decides what the caller may do. */
export interface Caller {
  readonly accountId: bigint;
  readonly scope: KeyScope;
  /** Why the key could not be checked again: PostgreSQL is unavailable or too busy. The key may have been revoked. */
  readonly staleCause: Problem | undefined;
}

/** Throws INSUFFICIENT_SCOPE if the key of the caller does not allow the operation. */
export function requireScope({ scope }: Pick<Caller, "scope">, needed: "read" | "write"): void {
  if (scope === "both" || scope === needed) return;
  throw new Problem("INSUFFICIENT_SCOPE", `This operation needs an API key whose scope includes ${needed}.`);
}
