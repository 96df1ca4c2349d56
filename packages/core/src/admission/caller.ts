import type { KeyScope } from "../access/key-scope.js";
import { Problem } from "../problem.js";

/** The account and the API key behind a request. The catalogue is told who calls, and decides what the caller may do. */
export interface Caller {
  readonly accountId: bigint;
  readonly scope: KeyScope;
  /** PostgreSQL is unavailable or too busy, so the key may have been revoked since it was last checked. */
  readonly isStale: boolean;
}

/** Throws INSUFFICIENT_SCOPE if the key of the caller does not allow the operation. */
export function requireScope({ scope }: Pick<Caller, "scope">, needed: "read" | "write"): void {
  if (scope === "both" || scope === needed) return;
  throw new Problem("INSUFFICIENT_SCOPE", `This operation needs an API key whose scope includes ${needed}.`);
}
