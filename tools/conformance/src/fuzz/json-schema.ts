/** As much of JSON Schema as the OpenAPI document uses. Whole numbers are bigint, in schemas as in values. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: JsonSchema;
  readonly maxItems?: bigint;
  readonly enum?: readonly unknown[];
  readonly "x-extensible-enum"?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: bigint;
  readonly maximum?: bigint;
  readonly minLength?: bigint;
  readonly maxLength?: bigint;
  readonly pattern?: string;
}

/** What of the value is not as the schema says; `undefined` when nothing is. `resolve` follows a `$ref`. */
export function misfit(value: unknown, schema: JsonSchema, resolve: (ref: string) => JsonSchema): string | undefined {
  if (schema.$ref !== undefined) {
    const fault = misfit(value, resolve(schema.$ref), resolve);
    if (fault !== undefined) return fault;
  }
  const { type, enum: values = schema["x-extensible-enum"], const: only } = schema;
  if (type !== undefined && kindOf(value) !== type) return `is ${kindOf(value)}, not ${type}`;
  if (values !== undefined && !values.includes(value)) return "is none of the values there are";
  if (only !== undefined && value !== only) return `is not ${only}`;
  if (typeof value === "bigint") return outside(value, schema);
  if (typeof value === "string") return misspelt(value, schema);
  if (Array.isArray(value)) return misfitOfItems(value, schema, resolve);
  if (typeof value === "object" && value !== null)
    return misfitOfProperties(new Map(Object.entries(value)), schema, resolve);
  return undefined;
}

function kindOf(value: unknown): string {
  if (typeof value === "bigint") return "integer";
  if (Array.isArray(value)) return "array";
  return value === null ? "null" : typeof value;
}

function outside(value: bigint, { minimum, maximum }: JsonSchema): string | undefined {
  const isInside = (minimum === undefined || value >= minimum) && (maximum === undefined || value <= maximum);
  return isInside ? undefined : "is out of its range";
}

/** Lengths are of code points. The pattern cannot tell a lone surrogate, which is no character. */
function misspelt(text: string, { minLength = 0n, maxLength, pattern }: JsonSchema): string | undefined {
  const length = BigInt([...text].length);
  if (!text.isWellFormed()) return "is not Unicode";
  if (length < minLength || (maxLength !== undefined && length > maxLength)) return "is not of its length";
  return pattern === undefined || patternOf(pattern).test(text) ? undefined : "is not as its pattern says";
}

function misfitOfItems(items: readonly unknown[], schema: JsonSchema, resolve: (ref: string) => JsonSchema) {
  if (schema.maxItems !== undefined && items.length > schema.maxItems) return "has too many items";
  for (const [index, item] of items.entries()) {
    const fault = schema.items && misfit(item, schema.items, resolve);
    if (fault !== undefined) return `${index} ${fault}`;
  }
  return undefined;
}

function misfitOfProperties(
  held: ReadonlyMap<string, unknown>,
  { properties = {}, required = [], additionalProperties = true }: JsonSchema,
  resolve: (ref: string) => JsonSchema,
): string | undefined {
  const missing = required.find((name) => !held.has(name));
  if (missing !== undefined) return `${missing} is missing`;
  for (const [name, value] of held) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (schema === undefined && !additionalProperties) return "has a property that is not listed";
    const fault = schema && misfit(value, schema, resolve);
    if (fault !== undefined) return `${name} ${fault}`;
  }
  return undefined;
}

const patterns = new Map<string, RegExp>();

function patternOf(source: string): RegExp {
  const pattern = patterns.get(source) ?? new RegExp(source, "u");
  patterns.set(source, pattern);
  return pattern;
}
