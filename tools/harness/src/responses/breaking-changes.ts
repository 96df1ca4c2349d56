import { isDeepStrictEqual } from "node:util";

/** A client ignores members of these that it does not know. */
const extensible = new Set(["paths", "responses", "headers", "properties", "schemas", "x-extensible-enum"]);

/**
 * The places where the newer part of an OpenAPI document differs from the older one, except for new paths, operations,
 * responses, headers, limits of headers, properties and optional parameters. A few of these changes break no client,
 * for example a higher maximum of a parameter, so a person has to review them. The comparison tools on npm read only
 * OpenAPI 3.0, or download a binary during installation. For a GraphQL schema, the package graphql has `findBreakingChanges`.
 */
export function breakingChanges(older: unknown, newer: unknown, path: readonly string[] = []): string[] {
  if (isDeepStrictEqual(older, newer) || (older === undefined && isExtension(newer, path))) return [];
  if (!isNode(older) || !isNode(newer)) return [path.join(" > ")];
  const [before, after] = [membersOf(older), membersOf(newer)];
  return Object.keys({ ...before, ...after }).flatMap((name) =>
    breakingChanges(before[name], after[name], [...path, name]),
  );
}

function isExtension(added: unknown, path: readonly string[]): boolean {
  const parent = path.at(-2) ?? "";
  const isOperation = path.at(-3) === "paths";
  const isOptionalParameter = parent === "parameters" && isNode(added) && !("required" in added && added.required);
  // Only responses have headers, so a new limit of a header restricts the service.
  const isLimitOfHeader = path[1] === "headers" && parent === "schema";
  return extensible.has(parent) || isOperation || isOptionalParameter || isLimitOfHeader;
}

function isNode(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** A parameter is found by its name, and any other item of an array by itself. */
function membersOf(node: object): Readonly<Record<string, unknown>> {
  return Array.isArray(node) ? Object.fromEntries(node.map((item) => [item.name ?? item, item])) : { ...node };
}
