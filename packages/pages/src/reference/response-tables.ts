import { html, type Markup } from "../html.js";
import { bodyFields } from "./body-fields.js";
import { exampleText } from "./example-text.js";
import type { OpenApiDocument, OpenApiOperation, OpenApiResponse } from "./openapi-document.js";
import { prose } from "./prose.js";

type Components = OpenApiDocument["components"];

interface StatusResponse {
  readonly status: string;
  readonly response: OpenApiResponse;
}

/** The statuses and codes of an operation, the bodies and headers of its responses, and an example. */
export function responseTables({ responses }: OpenApiOperation, components: Components): Markup {
  const all = Object.entries(responses).flatMap(([status, response]): readonly StatusResponse[] => {
    const resolved = "$ref" in response ? components.responses[status] : response;
    return resolved === undefined ? [] : [{ status, response: resolved }];
  });
  // The first response of an operation is its success.
  const [success] = all;
  const failure = all.find(isFailure);
  return html`<h3>Status and code</h3>
<table><thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead><tbody>
${all.flatMap((response) => statusRows(response, components.examples))}
</tbody></table>
${success && bodyTable(`Body of ${success.status}`, success, components)}
${failure && bodyTable("Body of every other status", failure, components)}
<h3>Headers</h3>
<table><thead><tr><th scope="col">Header</th><th scope="col">Meaning</th><th scope="col">Example</th></tr></thead><tbody>
${headerRows(all, components.headers)}
</tbody></table>
<h3>Example</h3>
<pre><code>${success && exampleText(success.response)}</code></pre>`;
}

function isFailure({ status }: StatusResponse): boolean {
  return Number(status) >= 400;
}

/** A row for each code of a failure, and one row for any other response. */
function statusRows(statusResponse: StatusResponse, examples: Components["examples"]): readonly Markup[] {
  const { status, response } = statusResponse;
  if (!isFailure(statusResponse)) return [html`<tr><td>${status}</td><td></td><td>${response.description}</td></tr>`];
  const codes = Object.keys(response.content?.["application/json"].examples ?? {});
  return codes.map(
    (code) => html`<tr><td>${status}</td><td><code>${code}</code></td><td>${examples[code]?.value.message}</td></tr>`,
  );
}

/** Undefined for a response without a body. */
function bodyTable(title: string, { response }: StatusResponse, { schemas }: Components): Markup | undefined {
  const schema = response.content?.["application/json"].schema;
  return schema && bodyFields(title, schema, schemas);
}

/** A row for each header that any of the responses has. */
function headerRows(all: readonly StatusResponse[], headers: Components["headers"]): readonly Markup[] {
  const references = new Map(all.flatMap(({ response }) => Object.entries(response.headers)));
  return [...references].map(([name, { $ref }]) => {
    const { description = "", example } = headers[$ref.replace("#/components/headers/", "")] ?? {};
    return html`<tr><td><code>${name}</code></td><td>${prose(description)}</td><td><code>${String(example)}</code></td></tr>`;
  });
}
