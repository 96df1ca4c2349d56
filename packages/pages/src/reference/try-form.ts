import { html, type Markup } from "../html.js";
import { rangeOf } from "./body-fields.js";
import { exampleText } from "./example-text.js";
import type { OpenApiOperation, OpenApiParameter } from "./openapi-document.js";
import { prose } from "./prose.js";
import { type ReadyQuery, readyQueries } from "./ready-queries.js";

interface TriedOperation extends OpenApiOperation {
  readonly method: string;
  readonly path: string;
}

/** The form that sends a request. browser/reference.ts handles it. */
export function tryForm({ operationId: id, method, path, parameters, requestBody }: TriedOperation): Markup {
  const ready = readyQueries[id] ?? [];
  const body =
    requestBody &&
    html`<div class="wide"><label for="${id}-body">Body <span class="kind">JSON, required</span></label>
<textarea id="${id}-body" data-in="body" name="body" rows="5" spellcheck="false">${exampleText(requestBody)}</textarea></div>`;
  return html`<form class="try" data-method="${method.toUpperCase()}" data-path="${path}">
<p><span id="${id}-ready">Examples:</span> <span role="group" aria-labelledby="${id}-ready">${ready.map(readyButton)}</span></p>
<div class="fields">
${parameters.map((parameter) => field(id, parameter))}
${body}
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
  const withoutKeyAttribute = withoutKey ? html` data-without-key` : undefined;
  return html`<button type="button" class="chip" data-fill="${JSON.stringify(fill)}"${withoutKeyAttribute}>${label}</button> `;
}

function field(id: string, parameter: OpenApiParameter): Markup {
  const { name, in: place, required, description, schema } = parameter;
  const kind = required ? `${place}, required` : place;
  return html`<div><label for="${id}-${name}">${name} <span class="kind">${kind}</span></label>
${control(id, parameter)}
<p id="${id}-${name}-about" class="about">${prose(description)} ${rangeOf(schema)}</p></div>`;
}

function control(id: string, { name, in: place, required, schema }: OpenApiParameter): Markup {
  const attributes = html`id="${id}-${name}" name="${name}" data-in="${place}" aria-describedby="${id}-${name}-about"`;
  if (schema.$ref === "#/components/schemas/PetStatus") {
    const values = ["", "available", "pending", "sold"];
    const options = values.map((value) => html`<option value="${value}">${value || "any"}</option>`);
    return html`<select ${attributes}>${options}</select>`;
  }
  const requiredAttribute = required ? html` required` : undefined;
  return html`<input ${attributes} spellcheck="false" autocomplete="off"${requiredAttribute}>`;
}
