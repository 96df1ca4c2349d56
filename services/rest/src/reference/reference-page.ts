/** The reference page at `/`. It shows the OpenAPI document, and is readable without scripts. */
import { html, keyForm, type Markup } from "@petstore/pages";
import { stringify } from "lossless-json";
import type { OpenApiDocument, OpenApiOperation, OpenApiParameter, OpenApiResponse } from "../openapi-document.js";
import { bodyFields, rangeOf } from "./body-fields.js";
import { prose } from "./prose.js";

type Components = OpenApiDocument["components"];

interface Section extends OpenApiOperation {
  readonly method: string;
  readonly path: string;
}

export function referenceMain({ paths, components }: OpenApiDocument): Markup {
  const sections = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ ...operation, method, path })),
  );
  return html`<h1>Pet store, version 1</h1>
<p class="lead">List pets, add a pet, or get a pet. Every request needs an API key, and every response shows how many requests remain. Enter a key to try the operations here. Each one sends a real request, which counts against your limits.</p>
<p>A program in TypeScript or JavaScript can use <a href="/petstore-client.tgz">the client of this service</a>, an npm package that the <a href="/docs/quickstart">quickstart</a> explains.</p>
${keyForm}
<nav aria-label="Operations" class="toc"><ul>
${sections.map(({ operationId: id, method, path, summary }) => html`<li><a href="#${id}"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code> ${summary}</a></li>`)}
</ul></nav>
${sections.map((section) => sectionMarkup(section, components))}`;
}

function sectionMarkup(section: Section, components: Components): Markup {
  const { operationId: id, method, path, summary, description, deprecated, requestBody } = section;
  return html`<section id="${id}" aria-labelledby="${id}-title"${deprecated ? html` class="deprecated"` : undefined}>
<h2 id="${id}-title"><span class="method ${method}">${method.toUpperCase()}</span> <code>/v1${path}</code></h2>
<p><strong>${summary}.</strong> ${prose(description)}</p>
${requestBody && bodyFields("Body of the request", requestBody.content["application/json"].schema, components.schemas)}
${form(section)}
<details><summary>Responses</summary>${responseTables(section, components)}</details>
</section>`;
}

function form({ operationId: id, method, path, parameters, requestBody }: Section): Markup {
  const ready = readyQueries[id] ?? [];
  return html`<form class="try" data-method="${method.toUpperCase()}" data-path="${path}">
<p><span id="${id}-ready">Examples:</span> <span role="group" aria-labelledby="${id}-ready">${ready.map(readyButton)}</span></p>
<div class="fields">
${parameters.map((parameter) => field(id, parameter))}
${
  requestBody &&
  html`<div class="wide"><label for="${id}-body">Body <span class="kind">JSON, required</span></label>
<textarea id="${id}-body" data-in="body" name="body" rows="5" spellcheck="false">${exampleText(requestBody)}</textarea></div>`
}
</div>
<button type="submit">Send</button>
<p class="status" role="status"></p>
<div class="answer" role="region" aria-label="Response of ${id}" hidden><pre><code class="body"></code></pre>
<details open><summary>Response headers</summary><table></table></details>
<details><summary>The same request with curl</summary><pre><code class="curl"></code></pre></details>
<button type="button">Next page</button></div>
</form>`;
}

function readyButton({ label, fill, withoutKey }: ReadyQuery): Markup {
  return html`<button type="button" class="chip" data-fill="${JSON.stringify(fill)}"${withoutKey ? html` data-without-key` : undefined}>${label}</button> `;
}

function field(id: string, { name, in: place, required, description, schema }: OpenApiParameter): Markup {
  const described = `${id}-${name}-about`;
  const attributes = html`id="${id}-${name}" name="${name}" data-in="${place}" aria-describedby="${described}"`;
  const values = schema.$ref === "#/components/schemas/PetStatus" ? ["", "available", "pending", "sold"] : undefined;
  return html`<div><label for="${id}-${name}">${name} <span class="kind">${place}${required ? ", required" : ""}</span></label>
${
  values === undefined
    ? html`<input ${attributes} spellcheck="false" autocomplete="off"${required ? html` required` : undefined}>`
    : html`<select ${attributes}>${values.map((value) => html`<option value="${value}">${value || "any"}</option>`)}</select>`
}
<p id="${described}" class="about">${prose(description)} ${rangeOf(schema)}</p></div>`;
}

function responseTables(section: Section, { schemas, headers, examples, responses: shared }: Components): Markup {
  const responses = Object.entries(section.responses).map(
    ([status, response]) => [status, "$ref" in response ? shared[status] : response] as const,
  );
  const rows = responses.flatMap(([status, response]) => {
    if (Number(status) < 400) return html`<tr><td>${status}</td><td></td><td>${response?.description}</td></tr>`;
    const codes = Object.keys(response?.content?.["application/json"].examples ?? {});
    return codes.map(
      (code) => html`<tr><td>${status}</td><td><code>${code}</code></td><td>${examples[code]?.value.message}</td></tr>`,
    );
  });
  const fields = new Map(responses.flatMap(([, response]) => Object.entries(response?.headers ?? {})));
  const headerRows = [...fields].map(([field, { $ref }]) => {
    const header = headers[$ref.replace("#/components/headers/", "")];
    return html`<tr><td><code>${field}</code></td><td>${prose(header?.description ?? "")}</td><td><code>${String(header?.example)}</code></td></tr>`;
  });
  const [[status, success] = []] = responses;
  const [, failure] = responses.find(([other]) => Number(other) >= 400) ?? [];
  return html`<h3>Status and code</h3>
<table><thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead><tbody>
${rows}
</tbody></table>
${success?.content && bodyFields(`Body of ${status}`, success.content["application/json"].schema, schemas)}
${failure?.content && bodyFields("Body of every other status", failure.content["application/json"].schema, schemas)}
<h3>Headers</h3>
<table><thead><tr><th scope="col">Header</th><th scope="col">Meaning</th><th scope="col">Example</th></tr></thead><tbody>
${headerRows}
</tbody></table>
<h3>Example</h3>
<pre><code>${success && exampleText(success)}</code></pre>`;
}

function exampleText({ content }: Pick<OpenApiResponse, "content">): string {
  const [example] = Object.values(content?.["application/json"].examples ?? {});
  return stringify(example?.value, undefined, 2) ?? "";
}

/** A prepared request. `fill` holds values by field name. All other fields are cleared. */
interface ReadyQuery {
  readonly label: string;
  readonly fill: Readonly<Record<string, string>>;
  readonly withoutKey?: true;
}

const readyQueries: Readonly<Record<string, readonly ReadyQuery[]>> = {
  listPets: [
    { label: "First two available pets", fill: { limit: "2", status: "available" } },
    { label: "All pets, 100 per page", fill: { limit: "100" } },
    { label: "Limit 0 (400)", fill: { limit: "0" } },
    { label: "Without a key (401)", fill: {}, withoutKey: true },
  ],
  createPet: [
    { label: "Rex", fill: { body: body('"Rex"', "7") } },
    { label: "An identifier beyond 2^53", fill: { body: body('"Ada"', "9007199254740993") } },
    { label: "With an Idempotency-Key", fill: { body: body('"Ina"', "3"), "Idempotency-Key": "try-me-once" } },
    { label: "Without a name (400)", fill: { body: '{\n  "categoryId": 7\n}' } },
  ],
  getPet: [
    { label: "The first pet", fill: { petId: "1" } },
    { label: "An unknown pet (404)", fill: { petId: "9223372036854775807" } },
  ],
};

function body(name: string, categoryId: string): string {
  return `{\n  "name": ${name},\n  "categoryId": ${categoryId},\n  "status": "available"\n}`;
}
