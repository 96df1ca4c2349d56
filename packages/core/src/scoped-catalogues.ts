import type { Catalogue } from "./pets/catalogue.js";
import { Problem } from "./problem.js";

export const keyScopes = ["read", "write", "both"] as const;

/** The operations that a key allows: to list and get pets, to create pets, or both. */
export type KeyScope = (typeof keyScopes)[number];

/** The catalogue as the keys of each scope may use it. Every other call throws INSUFFICIENT_SCOPE. */
export function scopedCatalogues(catalogue: Catalogue): Readonly<Record<KeyScope, Catalogue>> {
  const { list, listAsConnection, get, create } = catalogue;
  return {
    read: { ...refusing, list, listAsConnection, get },
    write: { ...refusing, create },
    both: catalogue,
  };
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
