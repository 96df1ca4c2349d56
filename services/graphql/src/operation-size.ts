/**
 * How much an operation asks for, judged before it is validated, so that validating and executing it stay cheap. Depth
 * and number of the fields are those of the answer: fields that share a response key are one, wherever they are
 * written, and a fragment counts wherever it is spread.
 */
import { type DocumentNode, type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from "graphql";

/** Introspection as tools send it nests 15 fields. */
const maxDepth = 20;
/** Introspection as tools send it has 230, and 301 with the `__typename` that caching clients add everywhere. */
const maxFields = 320;
/** A field again in the same place, as fragments that know nothing of each other write it; each is compared with each. */
const maxRepetitions = 100;
/** A field again in the same place, under another response key: what makes an answer large and its document short. */
const maxCopies = 10;

/** The rule an operation of the document breaks; `undefined` when it breaks none. */
export function sizeFault(document: DocumentNode): string | undefined {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  let fieldsLeft = maxFields;
  let copiesLeft = maxCopies;

  function measure(sets: readonly SelectionSetNode[], depth: number): string | undefined {
    if (depth > maxDepth) return `An operation may nest at most ${maxDepth} levels deep.`;
    const children = new Map<string, FieldNode[]>();
    const spread = new Set<string>();
    const pending = [...sets];
    for (let set = pending.pop(); set !== undefined; set = pending.pop()) {
      for (const selection of set.selections) {
        if (selection.kind === Kind.FIELD) {
          const key = (selection.alias ?? selection.name).value;
          const same = children.get(key);
          if (same === undefined) children.set(key, [selection]);
          else same.push(selection);
        } else if (selection.kind === Kind.INLINE_FRAGMENT) {
          pending.push(selection.selectionSet);
        } else if (!spread.has(selection.name.value)) {
          spread.add(selection.name.value);
          const fragment = fragments.get(selection.name.value);
          if (fragment !== undefined) pending.push(fragment.selectionSet);
        }
      }
    }
    fieldsLeft -= children.size;
    if (fieldsLeft < 0) return `An operation may select at most ${maxFields} fields.`;
    copiesLeft -= countCopies(children.values(), depth);
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
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    fieldsLeft = maxFields;
    copiesLeft = maxCopies;
    const fault = measure([definition.selectionSet], 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Root fields are left out: each of them costs a unit of its own, unless it introspects. */
function countCopies(selected: Iterable<readonly FieldNode[]>, depth: number): number {
  const names = new Set<string>();
  let copies = 0;
  for (const [field] of selected) {
    const name = field?.name.value ?? "";
    if (depth === 1 && !name.startsWith("__")) continue;
    if (names.has(name)) copies++;
    names.add(name);
  }
  return copies;
}
