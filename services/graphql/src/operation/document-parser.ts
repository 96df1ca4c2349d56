/** Parses and validates documents within a budget: the limits are checked before the work that they bound. */
import { hash } from "node:crypto";
import { Problem } from "@petstore/core";
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  OverlappingFieldsCanBeMergedRule,
  parse,
  specifiedRules,
  type Token,
  TokenKind,
  validate,
} from "graphql";
import { formatProblem } from "../graphql-errors.js";
import { selectionFault } from "./selection-fault.js";

/** Comments and white space do not count. */
const maxTokens = 1_000;
/** UTF-16 code units. Enough for ten new pets whose names have 255 escaped emoji, of 12 characters each. */
const maxCharacters = 32_768;
/** The same names have two backslashes for each emoji. */
const maxBackslashes = 5_100;
/** Enough for every token, and a comment for every token, on a line of its own. Block strings have lines too. */
const maxLines = 2_000;
const maxErrors = 5;
/** A message repeats names and literals of the document, and a document can have several errors. */
const maxMessageLength = 1_000;

/** `selectionFault` checks the merged fields in linear time. */
const rules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

/** Upper bounds of the heap that a parsed document uses, measured with tiny, wide and deep documents. */
const bytesPerDocument = 4_000;
const bytesPerToken = 550;
const bytesPerCharacter = 4;
/** V8 keeps a string that was put together from escapes in parts. */
const bytesPerEscape = 100;

type RefusalCode = "GRAPHQL_PARSE_FAILED" | "GRAPHQL_VALIDATION_FAILED";

export interface ValidDocument {
  readonly kind: "valid";
  readonly text: string;
  readonly document: DocumentNode;
  /** The SHA-256 of the text, in lower-case hexadecimal digits. */
  readonly digest: string;
}

export type ParsedDocument =
  | ValidDocument
  | { readonly kind: "refused"; readonly code: RefusalCode; readonly errors: readonly GraphQLFormattedError[] };

/**
 * Refuses a text that is too dear to read. The number of tokens does not bound the work of the lexer: one string or comment
 * can have any number of characters, escapes and lines.
 */
export function refuseText(text: string): ParsedDocument | undefined {
  const limit = exceededLimit(text);
  if (limit === undefined) return undefined;
  return refused("GRAPHQL_PARSE_FAILED", [new GraphQLError(`A document may have at most ${limit}.`)]);
}

/** `refuseText` has checked the text. */
export function parseDocument(schema: GraphQLSchema, text: string): ParsedDocument {
  let document: DocumentNode;
  try {
    document = parse(text, { maxLexicalTokens: maxTokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return refused("GRAPHQL_PARSE_FAILED", [error]);
  }
  const fault = selectionFault(document);
  if (fault !== undefined) return refused("GRAPHQL_VALIDATION_FAILED", [fault]);
  const errors = validate(schema, document, rules, { maxErrors, hideSuggestions: true });
  // Above the limit, graphql adds one more error, which states the limit.
  if (errors.length > 0) return refused("GRAPHQL_VALIDATION_FAILED", errors.slice(0, maxErrors));
  dropComments(document);
  return { kind: "valid", text, document, digest: hash("sha256", text, "hex") };
}

/** An upper bound of the heap that a cache uses for it. */
export function heapBytes(parsed: ParsedDocument): number {
  if (parsed.kind === "refused") return bytesPerDocument + JSON.stringify(parsed.errors).length * bytesPerCharacter;
  const { text, document } = parsed;
  let bytes = bytesPerDocument + text.length * bytesPerCharacter;
  for (let token: Token | null | undefined = document.loc?.startToken; token; token = token.next) {
    bytes += bytesPerToken;
    if (token.kind !== TokenKind.STRING) continue;
    bytes += count(text.slice(token.start, token.end), "\\") * bytesPerEscape;
  }
  return bytes;
}

function exceededLimit(text: string): string | undefined {
  if (text.length > maxCharacters) return `${maxCharacters} characters`;
  if (count(text, "\\") > maxBackslashes) return `${maxBackslashes} backslashes`;
  // A CR LF is one line terminator (GraphQL specification, section 2.1.2).
  const lineEnds = count(text, "\n") + count(text, "\r") - count(text, "\r\n");
  return lineEnds >= maxLines ? `${maxLines} lines` : undefined;
}

function count(text: string, part: string): number {
  let found = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found++;
  return found;
}

/** Keeps only the formatted errors: a GraphQLError holds the syntax tree. They are copied, because a part of a text holds the text. */
function refused(code: RefusalCode, errors: readonly GraphQLError[]): ParsedDocument {
  const formatted = errors.map(({ message, locations }) => {
    const error = formatProblem(new Problem(code, message));
    return { ...error, message: shorten(error.message), ...(locations && { locations }) };
  });
  return { kind: "refused", code, errors: structuredClone(formatted) };
}

function shorten(message: string): string {
  return message.length > maxMessageLength ? `${message.slice(0, maxMessageLength).toWellFormed()}...` : message;
}

/** Takes the comments out of the linked list of tokens, through which every node would keep them in memory. */
function dropComments({ loc }: DocumentNode): void {
  for (let token: Token | null | undefined = loc?.startToken; token; token = token.next) {
    const { prev, next } = token;
    if (token.kind !== TokenKind.COMMENT || prev === null || next === null) continue;
    Object.assign(prev, { next });
    Object.assign(next, { prev });
  }
}
