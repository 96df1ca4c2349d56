/** Finds documents in a cache, or has `document-parser.ts` parse and validate them. */
import { hash } from "node:crypto";
import { copyText } from "@petstore/core";
import type { GraphQLSchema } from "graphql";
import { heapBytes, type ParsedDocument, parseDocument, refuseText, type ValidDocument } from "./document-parser.js";
import { createFairCache } from "./fair-cache.js";

export interface Documents {
  /**
   * Parses and validates a document, or returns the cached outcome. Parsing is dear, so it is done in `inTurn`, and the
   * promise of `inTurn` is returned.
   */
  read(document: SentDocument, inTurn: InTurn): ParsedDocument | Promise<ParsedDocument>;
  /** The valid document whose text has this SHA-256, or `undefined` if this process does not have it. */
  find(sha256Hash: string): ValidDocument | undefined;
}

interface SentDocument {
  readonly text: string;
  readonly accountId: bigint;
  /** Sent with its hash, to be found by the hash from now on. */
  readonly isPersisted: boolean;
}

/** Does work at once, or later in a turn of the account. */
type InTurn = (parse: () => ParsedDocument) => ParsedDocument | Promise<ParsedDocument>;

const cacheLimits = { maxEntries: 1_000, maxSize: 32 * 1024 * 1024 };
/** A hash takes about 300 bytes. */
const sightedLimits = { maxEntries: 8_000, maxSize: 8_000 };

/**
 * Caches the outcome of parsing and validation, also of refused documents: clients send few documents many times. The key is
 * the SHA-256 of the text, in lower-case hexadecimal digits. A client can send this hash instead of the document (automatic
 * persisted queries of Apollo Client and urql).
 *
 * A document is cached from its second use on, or at once if it is persisted. Decision 0024 explains why.
 */
export function createDocuments(schema: GraphQLSchema): Documents {
  const cache = createFairCache<ParsedDocument>(cacheLimits);
  /** The hashes of documents that were used once. */
  const sighted = createFairCache<true>(sightedLimits);

  function keep(digest: string, parsed: ParsedDocument, { accountId, isPersisted }: SentDocument): void {
    if (isPersisted || sighted.get(digest)) cache.add(digest, parsed, { accountId, size: heapBytes(parsed) });
    else sighted.add(digest, true, { accountId, size: 1 });
  }

  return {
    read(document, inTurn) {
      const { text } = document;
      // A lone surrogate has the same UTF-8 bytes as U+FFFD, so the two texts have the same hash. graphql refuses only the
      // text with the surrogate, so the cache must not hold it under this hash.
      if (!text.isWellFormed()) return refuseText(text) ?? inTurn(() => parseDocument(schema, text));
      const digest = hash("sha256", text, "hex");
      const cached = cache.get(digest);
      if (cached !== undefined) return cached;
      const refusal = refuseText(text);
      if (refusal !== undefined) return refusal;
      return inTurn(() => {
        // Another request may have added it while this one waited.
        const added = cache.get(digest);
        if (added !== undefined) return added;
        // The text can be a part of a URL.
        const parsed = parseDocument(schema, copyText(text));
        keep(digest, parsed, document);
        return parsed;
      });
    },
    find(sha256Hash) {
      const known = cache.get(sha256Hash);
      return known?.kind === "valid" ? known : undefined;
    },
  };
}
