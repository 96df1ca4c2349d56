import { hash } from "node:crypto";
import type { GraphQLSchema } from "graphql";
import { LRUCache } from "lru-cache";
import { heapBytes, type ParsedDocument, parseDocument, type ValidDocument } from "./document-parser.js";

export interface Documents {
  /** Parses and validates a document, or returns the earlier outcome. */
  read(text: string): ParsedDocument;
  /** The valid document whose text has this SHA-256, or `undefined` if this process does not have it. */
  find(sha256Hash: string): ValidDocument | undefined;
}

const maxDocuments = 1_000;
const maxBytes = 32 * 1024 * 1024;

/**
 * Caches the outcome of parsing and validation, also of refused documents: clients send few different documents many times.
 * The key is the SHA-256 of the text, in lower-case hexadecimal digits. So a client can also send the hash of a document
 * that this process has (automatic persisted queries, as Apollo Client and urql send them).
 */
export function createDocuments(schema: GraphQLSchema): Documents {
  const cache = new LRUCache<string, ParsedDocument>({ max: maxDocuments, maxSize: maxBytes });
  return {
    read(text) {
      // A lone surrogate has the same UTF-8 bytes as U+FFFD, and graphql refuses only the former. So its text is not
      // cached: its hash could be that of another text.
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
