import { html, type Markup } from "../html.js";
import { rangeOf } from "./body-fields.js";
import { exampleText } from "./example-text.js";
import type { DocumentedOperation, OpenApiParameter } from "./openapi-document.js";
import { prose } from "./prose.js";
import { type ReadyQuery, readyQueries } from "./ready-queries.js";

/** Headers that few requests need. They are behind the other parameters. */
const furtherHeaders: readonly string[] = ["If-None-Match", "X-Request-Id"];

/** The form that shows a request as code, and sends it. browser/reference.ts handles it. */
export function tryForm({
  operationId: id,
  method,
  address,
  parameters = [],
  requestBody,
}: DocumentedOperation): Markup {
  const ready = readyQueries[id] ?? [];
  const examples =
    ready.length === 0
      ? undefined
      : html`<p><span id="${id}-ready">Examples:</span> <span role="group" aria-labelledby="${id}-ready">${ready.map(readyButton)}</span></p>`;
  const body =
    requestBody &&
    html`<div class="wide"><label for="${id}-body">Body <span class="kind">JSON, required</span></label>
<textarea id="${id}-body" data-in="body" name="body" rows="5" spellcheck="false">${exampleText(requestBody)}</textarea></div>`;
  const isFurther = ({ name }: OpenApiParameter) => furtherHeaders.includes(name);
  const shown = parameters.filter((parameter) => !isFurther(parameter));
  const further = parameters.filter(isFurther);
  return html`<form class="try" data-operation="${id}" data-method="${method.toUpperCase()}" data-path="${address}">
${examples}
<div class="fields">
${shown.map((parameter) => field(id, parameter))}
${body}
</div>
${further.length === 0 ? undefined : html`<details class="further"><summary>More headers</summary><div class="fields">${further.map((parameter) => field(id, parameter))}</div></details>`}
<div class="exchange">
<div class="request"><h3>Request</h3>
<div class="samples"><noscript><p class="about">The code of the request needs JavaScript. The <a href="/docs/quickstart">quickstart</a> has examples.</p></noscript></div>
<button type="submit">Send</button></div>
<div class="response"><h3>Response</h3>
<p class="status" role="status">Not sent yet.</p>
<div class="answer" role="region" aria-label="Response of ${id}" hidden><div class="code"><div class="bar"><span>JSON</span></div><pre tabindex="0"><code class="body"></code></pre></div>
<button type="button">Next page</button>
<details><summary>Response headers</summary><table></table></details></div></div>
</div>
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
