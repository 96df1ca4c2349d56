/**
 * Compares two OpenAPI documents. A newer document may accept more in requests and return less in responses, but never
 * the reverse. The comparison tools on npm read only OpenAPI 3.0, or download a binary during installation.
 */
type Node = { readonly [name: string]: Node };

/** Returns one line for each breaking change; an empty list if the newer document is compatible. */
export function breakingChanges(before: object, after: object): string[] {
  const [older, newer] = [before as Node, after as Node];
  const found: string[] = [];
  for (const [path, methods] of entries(older.paths)) {
    for (const [method, operation] of entries(methods)) {
      const kept = newer.paths?.[path]?.[method];
      const where = `${method.toUpperCase()} ${path}`;
      if (kept === undefined) found.push(`${where} was removed`);
      else found.push(...compareOperations(operation, kept).map((change) => `${where}: ${change}`));
    }
  }
  return found;

  function compareOperations(was: Node, is: Node): string[] {
    const changes: string[] = [];
    if (`${was.operationId}` !== `${is.operationId}`) changes.push("its operationId changed");
    changes.push(...compareParameters(was, is));
    const [oldBody, newBody] = [contentOf(was.requestBody), contentOf(is.requestBody)];
    if (oldBody !== undefined || newBody !== undefined)
      changes.push(...compareSchemas("body", oldBody, newBody, "request"));
    for (const [status, response] of entries(was.responses))
      changes.push(...compareResponses(status, response, is.responses?.[status]));
    return changes;
  }

  function compareParameters(was: Node, is: Node): string[] {
    const [oldOnes, newOnes] = [Object.values(was.parameters ?? {}), Object.values(is.parameters ?? {})];
    const same = (one: Node) => (other: Node) => one.name === other.name && one.in === other.in;
    const gone = oldOnes.filter((one) => !newOnes.some(same(one))).map(({ name }) => `parameter ${name} was removed`);
    const changed = newOnes.flatMap((one) => {
      const [previous, where] = [oldOnes.find(same(one)), `parameter ${one.name}`];
      const newlyRequired = isTrue(one.required) && !isTrue(previous?.required) ? [`${where} became required`] : [];
      return [...newlyRequired, ...(previous ? compareSchemas(where, previous.schema, one.schema, "request") : [])];
    });
    return [...gone, ...changed];
  }

  function compareResponses(status: string, was: Node, is: Node | undefined): string[] {
    if (is === undefined) return [`response ${status} was removed`];
    const lost = entries(was.headers).flatMap(([name, reference]) => {
      const [previous, header] = [resolve(older, reference), resolve(newer, is.headers?.[name])];
      if (header === undefined) return [`response ${status} lost ${name}`];
      const weaker =
        isTrue(previous?.required) && !isTrue(header.required) ? [`response ${status} no longer promises ${name}`] : [];
      return [...weaker, ...compareSchemas(`header ${name}`, previous?.schema, header.schema, "response")];
    });
    return [...lost, ...compareSchemas(`response ${status}`, contentOf(was), contentOf(is), "response")];
  }

  function compareSchemas(
    where: string,
    a: Node | undefined,
    b: Node | undefined,
    side: "request" | "response",
  ): string[] {
    const [was, is] = [resolve(older, a), resolve(newer, b)];
    if (was === undefined || is === undefined) return was === is ? [] : [`${where} was added or removed`];
    // A request schema may become wider, and a response schema narrower.
    const [narrow, wide] = side === "request" ? [was, is] : [is, was];
    const changes = [
      ...(`${was.type}` === `${is.type}` && `${was.format}` === `${is.format}` ? [] : [`${where} changed its type`]),
      ...limits.filter((limit) => isTighter(limit, narrow, wide)).map((limit) => `${where} changed ${limit}`),
      ...excluded(narrow.enum, wide.enum).map((value) => `${where} disagrees about ${value}`),
      ...missing(wide.required, narrow.required).map((name) => `${where}: ${name} is no longer what was promised`),
    ];
    for (const keyword of ["const", "pattern"]) {
      if (was[keyword] !== is[keyword]) changes.push(`${where} changed its ${keyword}`);
    }
    for (const [name, property] of entries(was.properties)) {
      const kept = is.properties?.[name];
      if (kept === undefined) changes.push(`${where}.${name} was removed`);
      else changes.push(...compareSchemas(`${where}.${name}`, property, kept, side));
    }
    if (was.items !== undefined) changes.push(...compareSchemas(`${where}[]`, was.items, is.items, side));
    return changes;
  }
}

const limits = ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"] as const;

/** True if `wide` allows fewer values than `narrow`, which no change may do. */
function isTighter(limit: (typeof limits)[number], narrow: Node, wide: Node): boolean {
  const open = limit.startsWith("min") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const [inner, outer] = [Number(narrow[limit] ?? open), Number(wide[limit] ?? open)];
  return limit.startsWith("min") ? outer > inner : outer < inner;
}

/** The values that `narrow` allows and `wide` does not. Without an enum every value is allowed. */
function excluded(narrow: Node | undefined, wide: Node | undefined): string[] {
  if (wide === undefined) return [];
  return narrow === undefined ? ["values it had not listed"] : missing(narrow, wide);
}

/** The values of the first list that the second list does not contain. */
function missing(held: Node | undefined, by: Node | undefined): string[] {
  const others = Object.values(by ?? {}).map(String);
  return Object.values(held ?? {})
    .map(String)
    .filter((value) => !others.includes(value));
}

function contentOf(holder: Node | undefined): Node | undefined {
  return holder?.content?.["application/json"]?.schema;
}

function resolve(document: Node, node: Node | undefined): Node | undefined {
  if (node?.$ref === undefined) return node;
  return `${node.$ref}`
    .replace("#/", "")
    .split("/")
    .reduce<Node | undefined>((found, name) => found?.[name], document);
}

function entries(node: Node | undefined): [string, Node][] {
  return Object.entries(node ?? {});
}

function isTrue(value: unknown): boolean {
  return value === true;
}
