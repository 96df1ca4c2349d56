/**
 * Walks the operations of a document before validation, so that validation and execution stay cheap. Fields are merged as
 * in the response: fields with the same response key count once, and a fragment counts at each spread.
 *
 * All of a document is walked, because a fragment that no operation spreads is refused.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  print,
  type SelectionSetNode,
} from "graphql";
import { sortValueNode } from "graphql/utilities/sortValueNode.js";

/** The introspection queries of tools have 15 levels. */
const maxDepth = 20;
/** The introspection queries of tools have 230 fields, or 301 with the `__typename` that caching clients add. */
const maxFields = 320;
/** Fields, also with the same response key, and spreads in all operations. Operations could share many fragments. */
const maxSelections = 512;
/** Operations and fragments. Validation walks each of them several times. */
const maxDefinitions = 40;
/** Everything in `petsConnection`, with `__typename` in each type. A new field needs two more: a pet is in edges and nodes. */
const maxFieldsOfRoot = 22;
/** A short document could get a large response for one unit if it selected a field under many aliases. */
const maxCopiesOfRoot = 3;
/** Introspection is free, so all its root fields together have one limit. */
const maxCopiesOfIntrospection = 10;

/** What may still be selected inside a root field, or by the introspection of an operation. */
interface RootBudget {
  readonly maxCopies: number;
  copies: number;
  fields: number;
}

/** The first limit that an operation exceeds, or the first fields that cannot be merged. */
export function selectionFault(document: DocumentNode): GraphQLError | undefined {
  if (document.definitions.length > maxDefinitions) {
    return new GraphQLError(`A document may have at most ${maxDefinitions} operations and fragments.`);
  }
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const usedFragments = new Set<FragmentDefinitionNode>();
  const areMergeable = createComparison();
  let selectionsLeft = maxSelections;
  let fieldsLeft = maxFields;
  let introspection = introspectionBudget();

  /** The fields with the same response key, for each key. */
  function collect(sets: readonly SelectionSetNode[]): Map<string, FieldNode[]> | undefined {
    const fieldsByKey = new Map<string, FieldNode[]>();
    // The loop also visits the sets that are added to `pending`, and each set only once.
    const pending = new Set(sets);
    for (const { selections } of pending) {
      selectionsLeft -= selections.length;
      if (selectionsLeft < 0) return undefined;
      for (const selection of selections) {
        if (selection.kind === Kind.FIELD) {
          const key = (selection.alias ?? selection.name).value;
          const same = fieldsByKey.get(key);
          if (same === undefined) fieldsByKey.set(key, [selection]);
          else same.push(selection);
        } else if (selection.kind === Kind.INLINE_FRAGMENT) {
          pending.add(selection.selectionSet);
        } else {
          const fragment = fragments.get(selection.name.value);
          if (fragment === undefined) continue;
          usedFragments.add(fragment);
          pending.add(fragment.selectionSet);
        }
      }
    }
    return fieldsByKey;
  }

  /**
   * `sets` have the same place in the response: at the root of the operation, or in the root field of `parent`. `isCopy`: a
   * field around them is selected again.
   */
  function measure(
    sets: readonly SelectionSetNode[],
    depth: number,
    parent?: RootBudget,
    isCopy = false,
  ): GraphQLError | undefined {
    if (depth > maxDepth) return new GraphQLError(`An operation may nest at most ${maxDepth} levels deep.`);
    const fieldsByKey = collect(sets);
    if (fieldsByKey === undefined) {
      const most = `${maxSelections} times in all`;
      return new GraphQLError(`The operations of a document may select fields and spread fragments at most ${most}.`);
    }
    fieldsLeft -= fieldsByKey.size;
    if (fieldsLeft < 0) return new GraphQLError(`An operation may select at most ${maxFields} fields.`);
    const names = new Set<string>();
    for (const [key, fields] of fieldsByKey) {
      const [first] = fields;
      if (first === undefined) continue;
      const other = fields.find((field) => !areMergeable(first, field));
      if (other !== undefined) return new GraphQLError(conflict(key), { nodes: [first, other] });
      const name = first.name.value;
      const isIntrospection = parent === undefined && name.startsWith("__");
      const root = parent ?? (isIntrospection ? introspection : rootFieldBudget());
      // A root field may have any number of aliases, because each one costs a unit.
      const isCopied = isCopy || (names.has(name) && (parent !== undefined || isIntrospection));
      names.add(name);
      if (isCopied) root.copies -= 1;
      if (root.copies < 0) return new GraphQLError(tooManyCopies(root));
      if (parent !== undefined) parent.fields -= 1;
      if (root.fields < 0) return new GraphQLError(`A root field may select at most ${maxFieldsOfRoot} fields.`);
      const inside = fields.flatMap(({ selectionSet }) => selectionSet ?? []);
      const fault = inside.length === 0 ? undefined : measure(inside, depth + 1, root, isCopied);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    fieldsLeft = maxFields;
    introspection = introspectionBudget();
    const fault = measure([definition.selectionSet], 1);
    if (fault !== undefined) return fault;
  }
  const unused = document.definitions.find(
    (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && !usedFragments.has(definition),
  );
  return (
    unused &&
    new GraphQLError("Each fragment must be used by an operation, and have a name of its own.", { nodes: unused })
  );
}

function rootFieldBudget(): RootBudget {
  return { maxCopies: maxCopiesOfRoot, copies: maxCopiesOfRoot, fields: maxFieldsOfRoot };
}

function introspectionBudget(): RootBudget {
  return { maxCopies: maxCopiesOfIntrospection, copies: maxCopiesOfIntrospection, fields: Number.POSITIVE_INFINITY };
}

function tooManyCopies({ maxCopies }: RootBudget): string {
  return `A root field may select fields again, by other aliases, at most ${maxCopies} times, with the fields inside them.`;
}

function conflict(responseKey: string): string {
  return `Fields "${responseKey}" conflict because they are different fields or have different arguments. Use different aliases.`;
}

/**
 * Whether two fields in the same place of the response can be merged (GraphQL specification, section 5.3.2): the schema has
 * no interfaces and no unions, so both must be the same field with the same arguments. graphql's own rule compares all pairs
 * of fields, also between fragments, which takes quadratic time.
 */
function createComparison(): (one: FieldNode, other: FieldNode) => boolean {
  const texts = new Map<FieldNode, string>();
  const argumentsOf = (field: FieldNode): string => {
    if (!field.arguments?.length) return "";
    const known = texts.get(field);
    if (known !== undefined) return known;
    const printed = field.arguments.map(({ name, value }) => `${name.value}: ${print(sortValueNode(value))}`);
    const text = printed.sort().join();
    texts.set(field, text);
    return text;
  };
  return (one, other) =>
    one === other || (one.name.value === other.name.value && argumentsOf(one) === argumentsOf(other));
}
