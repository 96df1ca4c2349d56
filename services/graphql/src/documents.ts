/**
 * Parses and validates documents, and remembers the outcome by the SHA-256 of the text, refusals included: clients send
 * few different documents, again and again.
 */
import { createHash } from "node:crypto";
import {
  type DefinitionNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  Kind,
  parse,
  specifiedRules,
  validate,
} from "graphql";
import { LRUCache } from "lru-cache";
import { formatRequestError } from "./error-format.js";
import { int64Id } from "./int64-id.js";
import { sizeFault } from "./operation-size.js";

/** Per document. Comments and blanks are not tokens. */
const maxTokens = 1_000;
/** Reported per document. */
const maxErrors = 5;

const maxDocuments = 1_000;
const maxBytes = 32 * 1024 * 1024;
/** Upper bounds of the heap that a remembered document uses, measured with tiny, wide and deep documents. */
const bytesPerDocument = 4_000;
const bytesPerToken = 120;
const bytesPerCharacter = 2;

/** Why a document cannot be executed. */
interface RefusedDocument {
  readonly kind: "refused";
  readonly code: "GRAPHQL_PARSE_FAILED" | "GRAPHQL_VALIDATION_FAILED";
  readonly errors: readonly GraphQLFormattedError[];
}

/** A document that is valid and within the limits. */
interface ValidDocument {
  readonly kind: "valid";
  readonly source: DocumentNode;
  /** The same document for execution. Its variables accept any value, because `variables.ts` has read them already. */
  readonly executable: DocumentNode;
}

type ParsedDocument = ValidDocument | RefusedDocument;

export interface Documents {
  /** Parses and validates a text, or returns the remembered outcome. */
  read(text: string): ParsedDocument;
  /** The syntax tree of a remembered valid document, by the SHA-256 of its text in hexadecimal. */
  find(digest: string): DocumentNode | undefined;
}

export function createDocuments(schema: GraphQLSchema): Documents {
  const cache = new LRUCache<string, ParsedDocument>({ max: maxDocuments, maxSize: maxBytes });

  return {
    read(text) {
      // As UTF-8, two texts with lone surrogates can have one digest. graphql refuses both.
      if (!text.isWellFormed()) return parseDocument(schema, text);
      const digest = createHash("sha256").update(text).digest("hex");
      const known = cache.get(digest);
      if (known !== undefined) return known;
      const document = parseDocument(schema, text);
      cache.set(digest, document, { size: heapBytes(text, document) });
      return document;
    },
    find(digest) {
      const document = cache.get(digest);
      return document?.kind === "valid" ? document.source : undefined;
    },
  };
}

function heapBytes(text: string, document: ParsedDocument): number {
  if (document.kind === "refused") {
    const messages = document.errors.reduce((length, { message }) => length + message.length, 0);
    return bytesPerDocument + messages * bytesPerCharacter;
  }
  return bytesPerDocument + (document.source.tokenCount ?? maxTokens) * bytesPerToken + text.length * bytesPerCharacter;
}

function parseDocument(schema: GraphQLSchema, text: string): ParsedDocument {
  let source: DocumentNode;
  try {
    source = parse(text, { maxTokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return refused("GRAPHQL_PARSE_FAILED", [error]);
  }
  const fault = sizeFault(source);
  if (fault !== undefined) return refused("GRAPHQL_VALIDATION_FAILED", [new GraphQLError(fault)]);
  const errors = validate(schema, source, specifiedRules, { maxErrors, hideSuggestions: true });
  // Beyond the limit graphql adds an error that says so.
  if (errors.length > 0) return refused("GRAPHQL_VALIDATION_FAILED", errors.slice(0, maxErrors));
  return { kind: "valid", source, executable: withReadVariables(source) };
}

/** Keeps the formatted errors only: a GraphQLError holds the syntax tree. */
function refused(code: RefusedDocument["code"], errors: readonly GraphQLError[]): RefusedDocument {
  return { kind: "refused", code, errors: errors.map((error) => formatRequestError(error, code)) };
}

/** The document with every variable declared as the schema's ID, which accepts any value, and without defaults. */
function withReadVariables(document: DocumentNode): DocumentNode {
  const type = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: int64Id.name } } as const;
  const definitions = document.definitions.map((definition): DefinitionNode => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return definition;
    const variableDefinitions = definition.variableDefinitions?.map(({ kind, variable }) => ({ kind, variable, type }));
    return { ...definition, ...(variableDefinitions && { variableDefinitions }) };
  });
  return { ...document, definitions };
}
