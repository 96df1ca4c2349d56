/**
 * What a newer OpenAPI document takes from clients of an older one. Requests may be widened and answers narrowed, never
 * the other way round. The tools on npm that compare documents read 3.0 alone, or fetch a binary when they are installed.
 */
type Node = { readonly [name: string]: Node };

/** One line for each change that breaks somebody; none when the newer one can be published. */
export function breakingChanges(before: object, after: object): string[] {
  const [old, fresh] = [before as Node, after as Node];
  const found: string[] = [];
  for (const [path, methods] of entries(old.paths)) {
    for (const [method, operation] of entries(methods)) {
      const kept = fresh.paths?.[path]?.[method];
      const where = `${method.toUpperCase()} ${path}`;
      if (kept === undefined) found.push(`${where} is gone`);
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
    const gone = oldOnes.filter((one) => !newOnes.some(same(one))).map(({ name }) => `parameter ${name} is gone`);
    const changed = newOnes.flatMap((one) => {
      const [previous, where] = [oldOnes.find(same(one)), `parameter ${one.name}`];
      const demanded = isTrue(one.required) && !isTrue(previous?.required) ? [`${where} became required`] : [];
      return [...demanded, ...(previous ? compareSchemas(where, previous.schema, one.schema, "request") : [])];
    });
    return [...gone, ...changed];
  }

  function compareResponses(status: string, was: Node, is: Node | undefined): string[] {
    if (is === undefined) return [`answer ${status} is gone`];
    const lost = entries(was.headers).flatMap(([name, reference]) => {
      const [previous, header] = [resolve(old, reference), resolve(fresh, is.headers?.[name])];
      if (header === undefined) return [`answer ${status} lost ${name}`];
      const weaker =
        isTrue(previous?.required) && !isTrue(header.required) ? [`answer ${status} no longer promises ${name}`] : [];
      return [...weaker, ...compareSchemas(`header ${name}`, previous?.schema, header.schema, "answer")];
    });
    return [...lost, ...compareSchemas(`answer ${status}`, contentOf(was), contentOf(is), "answer")];
  }

  function compareSchemas(
    where: string,
    a: Node | undefined,
    b: Node | undefined,
    side: "request" | "answer",
  ): string[] {
    const [was, is] = [resolve(old, a), resolve(fresh, b)];
    if (was === undefined || is === undefined) return was === is ? [] : [`${where} appeared or is gone`];
    // Whoever receives may see more than before only if the other side was promised less.
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
      if (kept === undefined) changes.push(`${where}.${name} is gone`);
      else changes.push(...compareSchemas(`${where}.${name}`, property, kept, side));
    }
    if (was.items !== undefined) changes.push(...compareSchemas(`${where}[]`, was.items, is.items, side));
    return changes;
  }
}

const limits = ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"] as const;

/** Whether `wide` admits less than `narrow` does: the direction no change may take. */
function isTighter(limit: (typeof limits)[number], narrow: Node, wide: Node): boolean {
  const open = limit.startsWith("min") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const [inner, outer] = [Number(narrow[limit] ?? open), Number(wide[limit] ?? open)];
  return limit.startsWith("min") ? outer > inner : outer < inner;
}

/** Values that are allowed by the first enum, or by there being none, and not by the second. */
function excluded(narrow: Node | undefined, wide: Node | undefined): string[] {
  if (wide === undefined) return [];
  return narrow === undefined ? ["values it had not listed"] : missing(narrow, wide);
}

/** What the first list has and the second lacks. */
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
