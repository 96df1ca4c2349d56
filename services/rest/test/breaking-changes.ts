// The comparison tools on npm read only OpenAPI 3.0, or download a binary during installation.

/** The parts of an OpenAPI document that a client is generated from. */
export interface ComparedDocument {
  readonly paths: object;
  readonly components: object;
}

/**
 * The values of the older document that the newer one lacks or changes, and the new values that are not part of a new path,
 * operation, response, header, property or optional parameter. A few of these changes break no client, for example a higher
 * maximum of a parameter, so a person has to review them.
 */
export function breakingChanges(older: ComparedDocument, newer: ComparedDocument): string[] {
  const before = new Map(valuesOf({ paths: older.paths, components: older.components }));
  const after = new Map(valuesOf({ paths: newer.paths, components: newer.components }));
  const nodesBefore = new Set([...before.keys()].flatMap((path) => prefixesOf(path)));
  const isNewPart = (path: string): boolean => {
    const names = path.split(separator);
    const firstNew = prefixesOf(path).findIndex((prefix) => !nodesBefore.has(prefix));
    return extensible.has(names[firstNew - 1] ?? "") || names[firstNew - 2] === "paths";
  };
  const lost = [...before].filter(([path, value]) => after.get(path) !== value).map(([path]) => path);
  const added = [...after].filter(([path, value]) => {
    const isRequiredParameter = value === true && /parameters > [^>]+ > required$/.test(path);
    return !before.has(path) && (isRequiredParameter || !isNewPart(path));
  });
  return [...lost, ...added.map(([path]) => path)];
}

const separator = " > ";
/** Texts for people. */
const ignored = new Set(["description", "summary", "example", "examples"]);
/** A client ignores members of these that it does not know. */
const extensible = new Set([
  ...["paths", "responses", "headers", "properties", "parameters", "schemas"],
  "x-extensible-enum",
]);

/** Every value that is no object, by its path. A parameter is found by its name, and any other item by itself. */
function valuesOf(node: object): [path: string, value: unknown][] {
  const members: [string, unknown][] = Array.isArray(node)
    ? node.map((item) => [`${item.name ?? item}`, item])
    : Object.entries(node).filter(([name]) => !ignored.has(name));
  return members.flatMap(([name, value]): [string, unknown][] =>
    typeof value === "object" && value !== null
      ? valuesOf(value).map(([path, inner]) => [`${name}${separator}${path}`, inner])
      : [[name, value]],
  );
}

function prefixesOf(path: string): string[] {
  const names = path.split(separator);
  return names.map((_name, index) => names.slice(0, index + 1).join(separator));
}
