/**
 * Parses and validates documents. The limits are checked before validation, so that validation and execution stay cheap.
 * Depth and fields are counted as in the response: fields with the same response key count once, and a fragment counts at
 * each spread.
 */
import { Problem } from "@petstore/core";
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  Kind,
  parse,
  type SelectionSetNode,
  specifiedRules,
  validate,
} from "graphql";
import { formatProblem } from "../error-response.js";

/** Per document. Comments and white space do not count. */
const maxTokens = 1_000;
const maxErrors = 5;
/** The introspection queries of tools have 15 levels. */
const maxDepth = 20;
/** The introspection queries of tools have 230 fields, or 301 with the `__typename` that caching clients add. */
const maxFields = 320;
/** Fields with the same response key in one place of the response: validation compares all pairs of them. */
const maxRepetitions = 100;
/** A short document could get a large response if it selected a field under many aliases. */
const maxCopies = 10;

/** Upper bounds of the heap that a cached document uses, measured with tiny, wide and deep documents. */
const bytesPerDocument = 4_000;
const bytesPerToken = 450;
const bytesPerCharacter = 4;
/** graphql keeps each comment as a token, and V8 keeps a string with escapes in parts. */
const bytesPerCommentOrEscape = 100;

type RefusalCode = "GRAPHQL_PARSE_FAILED" | "GRAPHQL_VALIDATION_FAILED";

export interface ValidDocument {
  readonly kind: "valid";
  readonly text: string;
  readonly document: DocumentNode;
}

export type ParsedDocument =
  | ValidDocument
  | { readonly kind: "refused"; readonly code: RefusalCode; readonly errors: readonly GraphQLFormattedError[] };

export function parseDocument(schema: GraphQLSchema, text: string): ParsedDocument {
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
  // Above the limit, graphql adds one more error, which states the limit.
  if (errors.length > 0) return refused("GRAPHQL_VALIDATION_FAILED", errors.slice(0, maxErrors));
  return { kind: "valid", text, document };
}

/** Keeps only the formatted errors: a GraphQLError holds the syntax tree. */
function refused(code: RefusalCode, errors: readonly GraphQLError[]): ParsedDocument {
  const formatted = errors.map(({ message, locations }) => ({
    ...formatProblem(new Problem(code, message)),
    ...(locations && { locations }),
  }));
  return { kind: "refused", code, errors: formatted };
}

export function heapBytes(text: string, parsed: ParsedDocument): number {
  if (parsed.kind === "refused") {
    const messages = parsed.errors.reduce((length, { message }) => length + message.length, 0);
    return bytesPerDocument + messages * bytesPerCharacter;
  }
  const { tokenCount = maxTokens } = parsed.document;
  const { length: commentsAndEscapes } = text.match(/[#\\]/g) ?? [];
  return (
    bytesPerDocument +
    tokenCount * bytesPerToken +
    text.length * bytesPerCharacter +
    commentsAndEscapes * bytesPerCommentOrEscape
  );
}

/** The message for the first limit that an operation or a fragment exceeds, or `undefined`. */
function sizeFault(document: DocumentNode): string | undefined {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  let fieldsLeft = maxFields;
  let copiesLeft = maxCopies;

  function measure(sets: readonly SelectionSetNode[], depth: number): string | undefined {
    if (depth > maxDepth) return `An operation may nest at most ${maxDepth} levels deep.`;
    const children = new Map<string, FieldNode[]>();
    // The loop also visits the sets that are added to `pending`, and each set only once.
    const pending = new Set(sets);
    for (const { selections } of pending) {
      for (const selection of selections) {
        if (selection.kind === Kind.FIELD) {
          const key = (selection.alias ?? selection.name).value;
          const same = children.get(key);
          if (same === undefined) children.set(key, [selection]);
          else same.push(selection);
        } else {
          const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
          if (fragment !== undefined) pending.add(fragment.selectionSet);
        }
      }
    }
    fieldsLeft -= children.size;
    if (fieldsLeft < 0) return `An operation may select at most ${maxFields} fields.`;
    // A root field may have any number of aliases, because each one costs a unit. Introspection is free, so it is limited.
    const names = [...children.values()].map(([field]) => field?.name.value ?? "");
    const limited = names.filter((name) => depth > 1 || name.startsWith("__"));
    copiesLeft -= limited.length - new Set(limited).size;
    if (copiesLeft < 0) return `An operation may select a field again, by another alias, at most ${maxCopies} times.`;
    for (const fields of children.values()) {
      if (fields.length > maxRepetitions) {
        return `An operation may write a field at most ${maxRepetitions} times in a place.`;
      }
      const inside = fields.flatMap(({ selectionSet }) => selectionSet ?? []);
      const fault = inside.length === 0 ? undefined : measure(inside, depth + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  for (const definition of document.definitions) {
    // Fragments too: validation compares the fields of a fragment that no operation uses.
    if (!("selectionSet" in definition)) continue;
    fieldsLeft = maxFields;
    copiesLeft = maxCopies;
    const fault = measure([definition.selectionSet], 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
