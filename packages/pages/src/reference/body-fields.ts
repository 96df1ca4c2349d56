/** The fields of the bodies, with their rules, as the OpenAPI document has them. */
import { html, type Markup } from "../html.js";
import type { OpenApiDocument, OpenApiSchema } from "./openapi-document.js";
import { prose } from "./prose.js";

type Schemas = OpenApiDocument["components"]["schemas"];

/** A heading and a table with one row for each field, however deep it is nested. `title` says whose body it is. */
export function bodyFields(title: string, schema: OpenApiSchema, schemas: Schemas): Markup {
  const [isArray, body] = schema.items === undefined ? [false, schema] : [true, schema.items];
  const name = nameOf(body);
  const resolved = resolve(body, schemas);
  return html`<h3>${title}: ${isArray ? "an array of " : ""}<code>${name}</code></h3>
<table><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Rules</th></tr></thead><tbody>
${fieldRows("", resolved, schemas)}
</tbody></table>
${resolved.additionalProperties === false ? html`<p class="about">A body with any other field is refused.</p>` : undefined}`;
}

/** `prefix` is the path to the object: `series[].` for an object in the array `series`. */
function fieldRows(prefix: string, object: OpenApiSchema, schemas: Schemas): readonly Markup[] {
  const { properties = {}, required = [] } = object;
  return Object.entries(properties).flatMap(([name, rules]) => {
    const field = `${prefix}${name}`;
    const schema = resolve(rules, schemas);
    const items = schema.items && resolve(schema.items, schemas);
    const row = fieldRow(field, required.includes(name), schema, items);
    return [row, ...fieldRows(items === undefined ? `${field}.` : `${field}[].`, items ?? schema, schemas)];
  });
}

function fieldRow(field: string, isRequired: boolean, schema: OpenApiSchema, items?: OpenApiSchema): Markup {
  const type = items === undefined ? typeOf(schema) : `${typeOf(schema)} of ${typeOf(items)}`;
  const rules = [schema.description, lengthOf(schema), countOf(schema), rangeOf(schema), choicesOf(schema)];
  return html`<tr><td><code>${field}</code></td><td>${type}, ${isRequired ? "required" : "optional"}</td><td>${prose(rules.filter(Boolean).join(" "))}</td></tr>
`;
}

function typeOf(schema: OpenApiSchema): string {
  const types = typesOf(schema).join(" or ");
  return schema.format === undefined ? types : `${types}, ${schema.format}`;
}

function lengthOf({ minLength, maxLength }: OpenApiSchema): string {
  if (maxLength === undefined) return "";
  return minLength === undefined ? `At most ${maxLength} characters.` : `${minLength} to ${maxLength} characters.`;
}

function countOf({ minItems, maxItems }: OpenApiSchema): string {
  if (maxItems === undefined) return "";
  return minItems === maxItems ? `${maxItems} items.` : `At most ${maxItems} items.`;
}

/** The range of a number, and its default. */
export function rangeOf({ minimum, maximum, default: preset }: OpenApiSchema): string {
  if (minimum === undefined) return "";
  return `From ${minimum} to ${maximum}${preset === undefined ? "" : `; default ${preset}`}.`;
}

function choicesOf({ enum: choices }: OpenApiSchema): string {
  return choices === undefined ? "" : `One of ${choices.map((choice) => `\`${choice}\``).join(", ")}.`;
}

/** A description beside a reference replaces that of the schema. A schema or null is a schema with a further type. */
function resolve(schema: OpenApiSchema, schemas: Schemas): OpenApiSchema {
  if (schema.$ref !== undefined) return { ...schemas[nameOf(schema)], ...schema };
  if (schema.anyOf === undefined) return schema;
  const choices = schema.anyOf.map((choice) => resolve(choice, schemas));
  return { ...choices[0], ...schema, type: choices.flatMap(typesOf) };
}

function typesOf({ type = "object" }: OpenApiSchema): readonly string[] {
  return [type].flat();
}

function nameOf({ $ref = "" }: OpenApiSchema): string {
  return $ref.replace("#/components/schemas/", "");
}
