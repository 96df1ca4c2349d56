/**
 * One root field costs what one REST request costs. Counted are the response keys of the root selection set as they
 * will be executed: fragments opened, @skip and @include applied, fields that merge counted once (GraphQL
 * specification, section 6.3.2). Introspection reads no data and adds nothing.
 */
import {
  type DirectiveNode,
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";

/** Units the operation costs, at least 1. The variables are those its values have been checked in, defaults included. */
export function operationCost(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): number {
  const keys = new Set<string>();
  const spread = new Set<string>();

  function collect({ selections }: SelectionSetNode): void {
    for (const selection of selections) {
      if (!isIncluded(selection.directives ?? [], variables)) continue;
      if (selection.kind === Kind.FIELD) {
        if (!selection.name.value.startsWith("__")) keys.add((selection.alias ?? selection.name).value);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        for (const definition of document.definitions) {
          if (definition.kind !== Kind.FRAGMENT_DEFINITION || definition.name.value !== selection.name.value) continue;
          collect(definition.selectionSet);
        }
      }
    }
  }

  collect(operation.selectionSet);
  return Math.max(1, keys.size);
}

function isIncluded(directives: readonly DirectiveNode[], variables: Readonly<Record<string, unknown>>): boolean {
  return directives.every(({ name, arguments: given }) => {
    const condition = given?.find((argument) => argument.name.value === "if")?.value;
    if (condition === undefined || (name.value !== "skip" && name.value !== "include")) return true;
    const value =
      condition.kind === Kind.VARIABLE
        ? variables[condition.name.value]
        : condition.kind === Kind.BOOLEAN && condition.value;
    return name.value === "skip" ? value !== true : value === true;
  });
}
