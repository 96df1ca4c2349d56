/**
 * The OpenAPI 3.0 form of our OpenAPI 3.1 document, for generators that cannot read 3.1. It says the same, in the words of 3.0.3.
 * A keyword that has no form in 3.0 is an error, so that the build fails before a client is generated from half of the document.
 */
type Json = unknown;
type JsonObject = Readonly<Record<string, Json>>;

export function toOpenApi30(document: JsonObject): JsonObject {
  const { openapi: _version, info, ...rest } = document;
  refuse(rest, ["jsonSchemaDialect", "webhooks"]);
  refuse(objectOf(rest.components ?? {}), ["pathItems"]);
  return { openapi: "3.0.3", info: infoOf(objectOf(info)), ...objectOf(convert(rest, [])) };
}

/** 3.0 has no `summary`, and names a licence by an address instead of its SPDX identifier. */
function infoOf({ summary, description, license, ...rest }: JsonObject): JsonObject {
  const texts = [summary, description].filter((text) => text !== undefined);
  const { identifier, ...licence } = objectOf(license ?? {});
  const url = identifier === undefined ? {} : { url: `https://spdx.org/licenses/${String(identifier)}.html` };
  return {
    ...rest,
    ...(texts.length > 0 && { description: texts.join("\n\n") }),
    ...(license !== undefined && { license: { ...licence, ...url } }),
  };
}

/** Copies everything that is not a schema. `path` leads from the document to the value. */
function convert(value: Json, path: readonly string[]): Json {
  if (isSchema(path)) return schemaOf(objectOf(value));
  if (isExample(path)) return value;
  if (Array.isArray(value)) return value.map((item, index) => convert(item, [...path, `${index}`]));
  if (!isObject(value)) return value;
  if ("$ref" in value && Object.keys(value).length > 1) throw unknown("keyword beside $ref", path);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, convert(member, [...path, name])]));
}

/** The value of a parameter, a header or a media type, and the examples of the components. They are not part of the document. */
function isExample(path: readonly string[]): boolean {
  const [parent, name] = path.slice(-2);
  return name === "example" || name === "value" || (name === "default" && parent !== "responses");
}

function isSchema(path: readonly string[]): boolean {
  return path.at(-1) === "schema" || (path.length === 3 && path[0] === "components" && path[1] === "schemas");
}

/** Keywords that mean the same in 3.0. */
const sameKeywords: ReadonlySet<string> = new Set([
  ...["title", "description", "default", "deprecated", "readOnly", "writeOnly", "example", "externalDocs", "xml"],
  ...["format", "enum", "pattern", "minLength", "maxLength", "multipleOf", "required", "discriminator"],
  ...["minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"],
]);

function schemaOf(schema: JsonObject): JsonObject {
  const { $ref, ...beside } = schema;
  if ($ref !== undefined) {
    // In 3.0, everything beside a reference is ignored.
    return Object.keys(beside).length === 0 ? { $ref } : { allOf: [{ $ref }], ...schemaOf(beside) };
  }
  const converted = Object.entries(schema).map(([keyword, value]) => keywordOf(keyword, value, schema));
  return Object.assign({}, ...converted);
}

function keywordOf(keyword: string, value: Json, schema: JsonObject): JsonObject {
  if (sameKeywords.has(keyword) || keyword.startsWith("x-")) return { [keyword]: value };
  switch (keyword) {
    case "type":
      return typeOf(value);
    case "const":
      return { enum: [value] };
    case "examples":
      return { example: arrayOf(value)[0] };
    case "minimum":
    case "maximum":
      return { [keyword]: value };
    case "exclusiveMinimum":
      return exclusiveBound("minimum", keyword, value, schema);
    case "exclusiveMaximum":
      return exclusiveBound("maximum", keyword, value, schema);
    case "items":
    case "not":
      return { [keyword]: schemaOf(objectOf(value)) };
    case "additionalProperties":
      return { [keyword]: typeof value === "boolean" ? value : schemaOf(objectOf(value)) };
    case "anyOf":
    case "oneOf":
      return oneOrNull(arrayOf(value)) ?? { [keyword]: arrayOf(value).map((item) => schemaOf(objectOf(item))) };
    case "allOf":
      return { [keyword]: arrayOf(value).map((item) => schemaOf(objectOf(item))) };
    case "properties":
      return {
        properties: Object.fromEntries(
          Object.entries(objectOf(value)).map(([name, property]) => [name, schemaOf(objectOf(property))]),
        ),
      };
    default:
      throw unknown(keyword, []);
  }
}

/** 3.0 has one type, and `nullable`. */
function typeOf(value: Json): JsonObject {
  const types = [value].flat();
  const [type, ...others] = types.filter((one) => one !== "null");
  if (type === undefined || others.length > 0) throw unknown(`type ${types.join(" or ")}`, []);
  return types.includes("null") ? { type, nullable: true } : { type };
}

/** `[schema, { type: "null" }]` is one nullable schema. It must have a type, without which 3.0 ignores `nullable`. */
function oneOrNull(choices: readonly Json[]): JsonObject | undefined {
  const [schema, ...others] = choices.map(objectOf).filter(({ type }) => type !== "null");
  if (schema === undefined || others.length > 0 || choices.length !== 2) return undefined;
  if (schema.type === undefined) throw unknown("null beside a schema without a type", []);
  return { ...schemaOf(schema), nullable: true };
}

/** In 3.0 the bound is in `minimum`, and a boolean excludes it. */
function exclusiveBound(bound: "minimum" | "maximum", keyword: string, value: Json, schema: JsonObject): JsonObject {
  if (schema[bound] !== undefined) throw unknown(`${keyword} beside ${bound}`, []);
  return { [bound]: value, [keyword]: true };
}

function refuse(object: JsonObject, names: readonly string[]): void {
  for (const name of names) if (name in object) throw unknown(name, []);
}

function unknown(what: string, path: readonly string[]): Error {
  return new Error(`OpenAPI 3.0 has no ${what}${path.length === 0 ? "" : ` at ${path.join("/")}`}`);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: Json): JsonObject {
  if (!isObject(value)) throw new Error("the OpenAPI document has no object where one must be");
  return value;
}

function arrayOf(value: Json): readonly Json[] {
  if (!Array.isArray(value)) throw new Error("the OpenAPI document has no array where one must be");
  return value;
}
