/** The fields of the bodies, with their rules, as the OpenAPI document has them. */
import { html, type Markup } from "../html.js";
import type { OpenApiDocument, OpenApiSchema } from "./openapi-document.js";
import { prose } from "./prose.js";

type Schemas = OpenApiDocument["components"]["schemas"];

/** A heading and a table with one row for each field. `title` says whose body it is. */
export function bodyFields(title: string, schema: OpenApiSchema, schemas: Schemas): Markup {
  const [isArray, body] = schema.items === undefined ? [false, schema] : [true, schema.items];
  const name = nameOf(body);
  const { properties = {}, required = [], additionalProperties } = resolve(body, schemas);
  const rows = Object.entries(properties).map(([field, rules]) =>
    fieldRow(field, required.includes(field), resolve(rules, schemas)),
  );
  return html`<h3>${title}: ${isArray ? "an array of " : ""}<code>${name}</code></h3>
<table><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Rules</th></tr></thead><tbody>
${rows}
</tbody></table>
${additionalProperties === false ? html`<p class="about">A body with any other field is refused.</p>` : undefined}`;
}

function fieldRow(field: string, isRequired: boolean, schema: OpenApiSchema): Markup {
  const types = typesOf(schema).join(" or ");
  const type = schema.format === undefined ? types : `${types}, ${schema.format}`;
  const rules = [schema.description, lengthOf(schema), rangeOf(schema), choicesOf(schema)];
  return html`<tr><td><code>${field}</code></td><td>${type}, ${isRequired ? "required" : "optional"}</td><td>${prose(rules.filter(Boolean).join(" "))}</td></tr>
`;
}

function lengthOf({ minLength, maxLength }: OpenApiSchema): string {
  if (maxLength === undefined) return "";
  return minLength === undefined ? `At most ${maxLength} characters.` : `${minLength} to ${maxLength} characters.`;
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
