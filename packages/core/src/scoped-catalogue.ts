import type { KeyScope } from "./access/api-key.js";
import type { Catalogue } from "./pets/catalogue.js";
import { Problem } from "./problem.js";

/** The catalogue as a key of this scope may use it. Every other call throws INSUFFICIENT_SCOPE. */
export function scopedCatalogue(catalogue: Catalogue, scope: KeyScope): Catalogue {
  const { list, listAsConnection, get, create } = catalogue;
  switch (scope) {
    case "both":
      return catalogue;
    case "read":
      return { ...refusing, list, listAsConnection, get };
    case "write":
      return { ...refusing, create };
  }
}

const refusing: Catalogue = {
  list: needs("read"),
  listAsConnection: needs("read"),
  get: needs("read"),
  create: needs("write"),
};

function needs(scope: KeyScope): () => Promise<never> {
  return async () => {
    throw new Problem("INSUFFICIENT_SCOPE", `This operation needs an API key whose scope includes ${scope}.`);
  };
}
