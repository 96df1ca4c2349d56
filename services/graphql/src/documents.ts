/**
 * Parses and validates documents and caches the outcome, also of refused documents: clients send few different documents many
 * times. The key is the SHA-256 of the text, because long texts make slow keys.
 */
import { hash } from "node:crypto";
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  parse,
  specifiedRules,
  validate,
} from "graphql";
import { LRUCache } from "lru-cache";
import { formatRequestError } from "./error-format.js";
import { sizeFault } from "./operation-size.js";

/** Per document. Comments and white space are not tokens. */
const maxTokens = 1_000;
/** Reported per document. */
const maxErrors = 5;

const maxDocuments = 1_000;
const maxBytes = 32 * 1024 * 1024;
/** Upper bounds of the heap that a cached document uses, measured with tiny, wide and deep documents. */
const bytesPerDocument = 4_000;
const bytesPerToken = 120;
const bytesPerCharacter = 2;

type ParsedDocument =
  | { readonly kind: "valid"; readonly document: DocumentNode }
  | {
      readonly kind: "refused";
      readonly code: "GRAPHQL_PARSE_FAILED" | "GRAPHQL_VALIDATION_FAILED";
      readonly errors: readonly GraphQLFormattedError[];
    };

export interface Documents {
  /** Parses and validates a text, or returns the cached outcome. */
  read(text: string): ParsedDocument;
}

export function createDocuments(schema: GraphQLSchema): Documents {
  const cache = new LRUCache<string, ParsedDocument>({ max: maxDocuments, maxSize: maxBytes });
  return {
    read(text) {
      // UTF-16, because in UTF-8 a lone surrogate and U+FFFD have the same bytes, and graphql refuses only the former.
      const digest = hash("sha256", Buffer.from(text, "utf16le"), "base64");
      const known = cache.get(digest);
      if (known !== undefined) return known;
      const parsed = parseDocument(schema, text);
      cache.set(digest, parsed, { size: heapBytes(text, parsed) });
      return parsed;
    },
  };
}

function heapBytes(text: string, parsed: ParsedDocument): number {
  if (parsed.kind === "refused") {
    const messages = parsed.errors.reduce((length, { message }) => length + message.length, 0);
    return bytesPerDocument + messages * bytesPerCharacter;
  }
  const { tokenCount = maxTokens } = parsed.document;
  return bytesPerDocument + tokenCount * bytesPerToken + text.length * bytesPerCharacter;
}

function parseDocument(schema: GraphQLSchema, text: string): ParsedDocument {
  let document: DocumentNode;
  try {
    document = parse(text, { maxTokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return refused("GRAPHQL_PARSE_FAILED", [error]);
  }
  const fault = sizeFault(document);
  if (fault !== undefined) return refused("GRAPHQL_VALIDATION_FAILED", [new GraphQLError(fault)]);
  const errors = validate(schema, document, specifiedRules, { maxErrors, hideSuggestions: true });
  // Above the limit graphql adds an error that says so.
  if (errors.length > 0) return refused("GRAPHQL_VALIDATION_FAILED", errors.slice(0, maxErrors));
  return { kind: "valid", document };
}

/** Keeps only the formatted errors: a GraphQLError holds the syntax tree. */
function refused(
  code: "GRAPHQL_PARSE_FAILED" | "GRAPHQL_VALIDATION_FAILED",
  errors: readonly GraphQLError[],
): ParsedDocument {
  return { kind: "refused", code, errors: errors.map((error) => formatRequestError(error, code)) };
}
