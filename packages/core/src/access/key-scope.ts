export const keyScopes = ["read", "write", "both"] as const;

/** The operations that a key allows: to list and get pets, to create pets, or both. */
export type KeyScope = (typeof keyScopes)[number];
