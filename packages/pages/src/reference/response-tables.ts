import { html, type Markup } from "../html.js";
import { bodyFields } from "./body-fields.js";
import { exampleText } from "./example-text.js";
import { type HeaderMeaning, headersOf, headerTable } from "./header-table.js";
import { type OpenApiDocument, type OpenApiOperation, responsesOf, type StatusResponse } from "./openapi-document.js";
import { prose } from "./prose.js";

type Components = OpenApiDocument["components"];

/** The statuses and codes of an operation, the bodies of its responses, the headers that not all operations have, and an example. */
export function responseTables(
  operation: OpenApiOperation,
  components: Components,
  common: readonly HeaderMeaning[],
): Markup {
  const all = responsesOf(operation, components);
  // The first response of an operation is its success.
  const [success] = all;
  const failure = all.find(isFailure);
  const isCommon = (name: string) => common.some((header) => header.name === name);
  const own = headersOf(all).filter(({ name }) => !isCommon(name));
  return html`<h3>Status and code</h3>
<table><thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead><tbody>
${all.flatMap(statusRows)}
</tbody></table>
${success && bodyTable(`Body of ${success.status}`, success, components)}
${failure && bodyTable("Body of every error", failure, components)}
<h3>Headers</h3>
<p>Besides the <a href="#common-headers">headers of every response</a>:</p>
${headerTable(own, components.headers, { withStatuses: true })}
${success && exampleBlock(success)}`;
}

/** Undefined for a response without an example. */
function exampleBlock({ response }: StatusResponse): Markup | undefined {
  const text = exampleText(response);
  return text === ""
    ? undefined
    : html`<h3>Example</h3>
<div class="code"><pre tabindex="0"><code>${text}</code></pre></div>`;
}

function isFailure({ status }: StatusResponse): boolean {
  return Number(status) >= 400;
}

/** A row for each code of a failure, whose description has a paragraph for each code; and one row for any other response. */
function statusRows(statusResponse: StatusResponse): readonly Markup[] {
  const { status, response } = statusResponse;
  if (!isFailure(statusResponse)) {
    return [html`<tr><td>${status}</td><td></td><td>${prose(response.description)}</td></tr>`];
  }
  const paragraphs = [...response.description.matchAll(/^`([A-Z_]+)`: (.+)$/gm)];
  return paragraphs.map(
    ([, code = "", meaning = ""]) =>
      html`<tr><td>${status}</td><td><a href="/docs/errors#${code}"><code>${code}</code></a></td><td>${prose(meaning)}</td></tr>`,
  );
}

/** Undefined for a response without a body. */
function bodyTable(title: string, { response }: StatusResponse, { schemas }: Components): Markup | undefined {
  const schema = response.content?.["application/json"].schema;
  return schema && bodyFields(title, schema, schemas);
}
