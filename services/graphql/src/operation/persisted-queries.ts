/**
 * Automatic persisted queries, as Apollo Client and urql send them. A client first sends only the SHA-256 of its document.
 * If this process does not have the document, the client sends it once, together with the hash. Each process has a cache of
 * its own: a miss costs the client one more request, and nothing else.
 */
import { hash } from "node:crypto";
import { Problem } from "@petstore/core";
import { LRUCache } from "lru-cache";

export interface PersistedQueries {
  /** The document with this hash, or `undefined` if this process does not have it. */
  find(sha256Hash: string): string | undefined;
  /** Keeps a valid document under its hash. */
  keep(sha256Hash: string, document: string): void;
}

const maxDocuments = 1_000;
const maxCharacters = 8 * 1024 * 1024;

export function createPersistedQueries(): PersistedQueries {
  const cache = new LRUCache<string, string>({
    max: maxDocuments,
    maxSize: maxCharacters,
    sizeCalculation: (document) => document.length,
  });
  return {
    find: (sha256Hash) => cache.get(sha256Hash),
    keep: (sha256Hash, document) => void cache.set(sha256Hash, document),
  };
}

/**
 * The hash in `extensions.persistedQuery`, in lower case; `undefined` if the request has none. Throws VALIDATION_FAILED if
 * `version` is not 1, if `sha256Hash` is not a SHA-256, or if it is not the hash of the document sent with it.
 */
export function readPersistedQueryHash(persistedQuery: unknown, document: string | undefined): string | undefined {
  if (persistedQuery === undefined || persistedQuery === null) return undefined;
  const { version, sha256Hash } = persistedQuery as { readonly version?: unknown; readonly sha256Hash?: unknown };
  if (version !== 1n) throw new Problem("VALIDATION_FAILED", "extensions.persistedQuery.version must be 1");
  if (typeof sha256Hash !== "string" || !/^[0-9a-f]{64}$/i.test(sha256Hash)) {
    throw new Problem("VALIDATION_FAILED", "extensions.persistedQuery.sha256Hash must be a SHA-256 in hexadecimal");
  }
  if (document !== undefined && hash("sha256", document, "hex") !== sha256Hash.toLowerCase()) {
    throw new Problem("VALIDATION_FAILED", "extensions.persistedQuery.sha256Hash must be the SHA-256 of query");
  }
  return sha256Hash.toLowerCase();
}
