import { hash } from "node:crypto";
import type { GraphQLSchema } from "graphql";
import { LRUCache } from "lru-cache";
import { heapBytes, type ParsedDocument, parseDocument, type ValidDocument } from "./document-parser.js";

export interface Documents {
  /** Parses and validates a document, or returns the cached outcome. */
  read(text: string): ParsedDocument;
  /** The valid document whose text has this SHA-256, or `undefined` if this process does not have it. */
  find(sha256Hash: string): ValidDocument | undefined;
}

const maxDocuments = 1_000;
const maxBytes = 32 * 1024 * 1024;

/**
 * Caches the outcome of parsing and validation, also of refused documents: clients send few documents many times. The key is
 * the SHA-256 of the text, in lower-case hexadecimal digits. A client can send this hash instead of the document (automatic
 * persisted queries of Apollo Client and urql).
 */
export function createDocuments(schema: GraphQLSchema): Documents {
  const cache = new LRUCache<string, ParsedDocument>({ max: maxDocuments, maxSize: maxBytes });
  return {
    read(text) {
      // A lone surrogate has the same UTF-8 bytes as U+FFFD, so the two texts have the same hash. graphql refuses only the
      // text with the surrogate, so the cache must not hold it under this hash.
      if (!text.isWellFormed()) return parseDocument(schema, text);
      const digest = hash("sha256", text, "hex");
      const known = cache.get(digest);
      if (known !== undefined) return known;
      const parsed = parseDocument(schema, text);
      cache.set(digest, parsed, { size: heapBytes(text, parsed) });
      return parsed;
    },
    find(sha256Hash) {
      const known = cache.get(sha256Hash);
      return known?.kind === "valid" ? known : undefined;
    },
  };
}
