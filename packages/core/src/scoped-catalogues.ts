import type { KeyScope } from "./access/key-scope.js";
import type { Catalogue } from "./pets/catalogue.js";
import { Problem } from "./problem.js";

/** Throws INSUFFICIENT_SCOPE if `scope` does not include the needed one. */
export function requireScope(scope: KeyScope, needed: "read" | "write"): void {
  if (scope !== "both" && scope !== needed) throw insufficient(needed);
}

/** One catalogue for each scope. A call that the scope does not allow throws INSUFFICIENT_SCOPE. */
export function scopedCatalogues(catalogue: Catalogue): Readonly<Record<KeyScope, Catalogue>> {
  const { list, listAsConnection, get, create } = catalogue;
  const needsRead = refusal("read");
  const needsWrite = refusal("write");
  return {
    read: { list, listAsConnection, get, create: needsWrite },
    write: { list: needsRead, listAsConnection: needsRead, get: needsRead, create },
    both: catalogue,
  };
}

function refusal(missing: "read" | "write"): () => Promise<never> {
  return async () => {
    throw insufficient(missing);
  };
}

function insufficient(missing: "read" | "write"): Problem {
  return new Problem("INSUFFICIENT_SCOPE", `This operation needs an API key whose scope includes ${missing}.`);
}
