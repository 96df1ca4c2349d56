import { keyForm, type Page } from "../frame.js";
import { html, type Markup } from "../html.js";
import { bodyFields } from "./body-fields.js";
import type { OpenApiDocument, OpenApiOperation } from "./openapi-document.js";
import { prose } from "./prose.js";
import { responseTables } from "./response-tables.js";
import { tryForm } from "./try-form.js";

/** The reference page at `/`. It shows the OpenAPI document, and is readable without scripts. */
export function referencePage(document: OpenApiDocument): Page {
  return { path: "/", title: "Reference", main: main(document), module: "reference" };
}

interface Section extends OpenApiOperation {
  readonly method: string;
  readonly path: string;
}

function main({ paths, components }: OpenApiDocument): Markup {
  const sections = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ ...operation, method, path })),
  );
  return html`<h1>Pet store, version 1</h1>
<p class="lead">List pets, add a pet, or get a pet. Every request needs an API key, and every response shows how many requests remain. Enter a key to try the operations here. Each one sends a real request, which counts against your limits.</p>
<p>A program in TypeScript or JavaScript can use <a href="/petstore-client.tgz">the client of this service</a>, an npm package that the <a href="/docs/quickstart">quickstart</a> explains.</p>
${keyForm}
<nav aria-label="Operations" class="toc"><ul>
${sections.map(contentsItem)}
</ul></nav>
${sections.map((section) => sectionMarkup(section, components))}`;
}

function contentsItem({ operationId: id, method, path, summary }: Section): Markup {
  const operation = html`${methodLabel(method)} <code>${path}</code>`;
  return html`<li><a href="#${id}">${operation} ${summary}</a></li>`;
}

function sectionMarkup(section: Section, components: OpenApiDocument["components"]): Markup {
  const { operationId: id, method, path, summary, description, deprecated, requestBody } = section;
  const deprecatedClass = deprecated ? html` class="deprecated"` : undefined;
  const bodySchema = requestBody?.content["application/json"].schema;
  const body = bodySchema && bodyFields("Body of the request", bodySchema, components.schemas);
  return html`<section id="${id}" aria-labelledby="${id}-title"${deprecatedClass}>
<h2 id="${id}-title">${methodLabel(method)} <code>/v1${path}</code></h2>
<p><strong>${summary}.</strong> ${prose(description)}</p>
${body}
${tryForm(section)}
<details><summary>Responses</summary>${responseTables(section, components)}</details>
</section>`;
}

function methodLabel(method: string): Markup {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`;
}
