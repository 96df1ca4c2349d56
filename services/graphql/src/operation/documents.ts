import { hash } from "node:crypto";
import type { GraphQLSchema } from "graphql";
import { LRUCache } from "lru-cache";
import { heapBytes, type ParsedDocument, parseDocument } from "./document-parser.js";

const maxDocuments = 1_000;
const maxBytes = 32 * 1024 * 1024;

export type ReadDocument = (text: string) => ParsedDocument;

/**
 * Caches the outcome of parsing and validation, also of refused documents: clients send few different documents many times.
 * The key is the SHA-256 of the text, because long texts make slow keys.
 */
export function createDocumentReader(schema: GraphQLSchema): ReadDocument {
  const cache = new LRUCache<string, ParsedDocument>({ max: maxDocuments, maxSize: maxBytes });
  return (text) => {
    // UTF-16, because in UTF-8 a lone surrogate and U+FFFD have the same bytes, and graphql refuses only the former.
    const digest = hash("sha256", Buffer.from(text, "utf16le"), "base64");
    const known = cache.get(digest);
    if (known !== undefined) return known;
    const parsed = parseDocument(schema, text);
    cache.set(digest, parsed, { size: heapBytes(text, parsed) });
    return parsed;
  };
}
