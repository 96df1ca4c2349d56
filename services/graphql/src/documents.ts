/**
 * Documents, parsed and found valid once and remembered by their text: most clients send few, again and again. What is
 * refused is not remembered.
 */
import { createHash } from "node:crypto";
import {
  type DefinitionNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  parse,
  specifiedRules,
  type TypeNode,
  validate,
} from "graphql";
import { LRUCache } from "lru-cache";
import { int64Id } from "./int64-id.js";
import { sizeFault } from "./operation-size.js";

/** Of one document, comments and blanks not counted. */
const maxTokens = 1_000;

/** Errors reported of one document, at most. */
const maxErrors = 10;

/** Characters of remembered documents, all together. A syntax tree is some 100 times larger than its text. */
const rememberedCharacters = 262_144;

/** Why a document cannot be executed. */
interface DocumentFaults {
  readonly code: "GRAPHQL_PARSE_FAILED" | "GRAPHQL_VALIDATION_FAILED";
  readonly errors: readonly GraphQLError[];
}

/** A document that is valid and within the limits. */
interface Document {
  readonly written: DocumentNode;
  /** The same for execution, which takes variables as they are: they have been read, and their faults are core's. */
  readonly executable: DocumentNode;
}

export interface Documents {
  /** The document, or what is wrong with it. */
  read(text: string): Document | DocumentFaults;
  /** The executable form of a remembered document, by the SHA-256 of its text in hexadecimal. */
  find(digest: string): DocumentNode | undefined;
}

export function createDocuments(schema: GraphQLSchema): Documents {
  const byDigest = new Map<string, DocumentNode>();
  const byText = new LRUCache<string, Remembered>({
    maxSize: rememberedCharacters,
    sizeCalculation: (_document, text) => text.length + 1,
    dispose: ({ digest }) => byDigest.delete(digest),
  });

  return {
    read(text) {
      const known = byText.get(text);
      if (known !== undefined) return known.document;
      const document = examine(schema, text);
      if ("written" in document) {
        const digest = createHash("sha256").update(text).digest("hex");
        byDigest.set(digest, document.executable);
        byText.set(text, { digest, document });
      }
      return document;
    },
    find: (digest) => byDigest.get(digest),
  };
}

interface Remembered {
  readonly digest: string;
  readonly document: Document;
}

function examine(schema: GraphQLSchema, text: string): Document | DocumentFaults {
  let document: DocumentNode;
  try {
    document = parse(text, { maxTokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return { code: "GRAPHQL_PARSE_FAILED", errors: [error] };
  }
  const fault = sizeFault(document);
  const errors =
    fault === undefined
      ? validate(schema, document, specifiedRules, { maxErrors, hideSuggestions: true })
      : [new GraphQLError(fault)];
  if (errors.length > 0) return { code: "GRAPHQL_VALIDATION_FAILED", errors };
  return { written: document, executable: withVariablesOf(document, int64Id.name) };
}

/** The document as it would be if its variables, without defaults, were of a type that takes anything. */
export function withVariablesOf(document: DocumentNode, typeName: string): DocumentNode {
  const type: TypeNode = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: typeName } };
  const definitions = document.definitions.map((definition): DefinitionNode => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return definition;
    const variableDefinitions = definition.variableDefinitions?.map(({ kind, variable }) => ({ kind, variable, type }));
    return { ...definition, ...(variableDefinitions && { variableDefinitions }) };
  });
  return { ...document, definitions };
}
