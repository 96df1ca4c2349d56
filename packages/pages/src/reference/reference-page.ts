import { keyForm, type Page } from "../frame.js";
import { html, type Markup } from "../html.js";
import { bodyFields } from "./body-fields.js";
import { commonHeaders, type HeaderMeaning, headerTable } from "./header-table.js";
import { type DocumentedOperation, type OpenApiDocument, operationsOf } from "./openapi-document.js";
import { prose } from "./prose.js";
import { responseTables } from "./response-tables.js";
import { tryForm } from "./try-form.js";

/** The reference page at `/`. It shows the OpenAPI document, and is readable without scripts. */
export function referencePage(document: OpenApiDocument): Page {
  return { path: "/", title: "Reference", main: main(document), styles: ["code"], module: "reference" };
}

function main(document: OpenApiDocument): Markup {
  const { components } = document;
  const operations = operationsOf(document);
  const common = commonHeaders(document);
  return html`<h1>Pet store, version 1</h1>
<p class="lead">List pets, add a pet, or get a pet. Every request needs an API key, and every response shows how many requests remain. Each operation shows its request as code, and sends it here if you enter a key. A sent request counts against your limits.</p>
<p>A program in TypeScript or JavaScript can use <a href="/petstore-client.tgz">the client of this service</a>, an npm package that the <a href="/docs/quickstart">quickstart</a> explains.</p>
${keyForm}
<nav aria-label="Operations" class="toc"><ul>
${operations.map(contentsItem)}
</ul></nav>
${operations.map((operation) => sectionMarkup(operation, components, common))}
<section id="common-headers" aria-labelledby="common-headers-title">
<h2 id="common-headers-title">Headers of every response</h2>
${headerTable(common, components.headers, { withStatuses: false })}
</section>`;
}

function contentsItem(operation: DocumentedOperation): Markup {
  return html`<li><a href="#${operation.operationId}">${addressOf(operation)} ${operation.summary}</a></li>`;
}

function sectionMarkup(
  operation: DocumentedOperation,
  components: OpenApiDocument["components"],
  common: readonly HeaderMeaning[],
): Markup {
  const { operationId: id, summary, description, requestBody } = operation;
  const bodySchema = requestBody?.content["application/json"].schema;
  const body = bodySchema && bodyFields("Body of the request", bodySchema, components.schemas);
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${addressOf(operation)}</h2>
<p><strong>${summary}.</strong> ${prose(description)}</p>
${body}
${tryForm(operation)}
<details><summary>Responses</summary>${responseTables(operation, components, common)}</details>
</section>`;
}

/** The method and the path, and a mark if the operation is deprecated. */
function addressOf({ method, address, deprecated }: DocumentedOperation): Markup {
  const label = html`<span class="method ${method}">${method.toUpperCase()}</span>`;
  if (deprecated !== true) return html`${label} <code>${address}</code>`;
  return html`${label} <s><code>${address}</code></s> <span class="deprecated">deprecated</span>`;
}
