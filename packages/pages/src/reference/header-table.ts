import { html, type Markup } from "../html.js";
import { type OpenApiDocument, operationsOf, responsesOf, type StatusResponse } from "./openapi-document.js";
import { prose } from "./prose.js";

type Headers = OpenApiDocument["components"]["headers"];
/** References to the headers of the components, by the name of the header. */
type References = ReadonlyMap<string, string>;

/** The headers that every response of every operation has. */
export function commonHeaders(document: OpenApiDocument): References {
  const responses = operationsOf(document).flatMap((operation) => responsesOf(operation, document.components));
  return new Map(
    [...headersOf(responses)].filter(([name, reference]) =>
      responses.every(({ response }) => response.headers[name]?.$ref === reference),
    ),
  );
}

/** The headers that any of the responses has. */
export function headersOf(responses: readonly StatusResponse[]): References {
  const all = responses.flatMap(({ response }) => Object.entries(response.headers));
  return new Map(all.map(([name, { $ref }]) => [name, $ref]));
}

export function headerTable(references: References, headers: Headers): Markup {
  const rows = [...references].map(([name, reference]) => {
    const { description = "", example } = headers[reference.replace("#/components/headers/", "")] ?? {};
    return html`<tr><td><code>${name}</code></td><td>${prose(description)}</td><td><code>${String(example)}</code></td></tr>`;
  });
  return html`<table><thead><tr><th scope="col">Header</th><th scope="col">Meaning</th><th scope="col">Example</th></tr></thead><tbody>
${rows}
</tbody></table>`;
}
