import { html, type Markup } from "../html.js";
import { type OpenApiDocument, operationsOf, responsesOf, type StatusResponse } from "./openapi-document.js";
import { prose } from "./prose.js";

type Headers = OpenApiDocument["components"]["headers"];

/** A header with one of its meanings: `Link` of a page and `Link` of an error differ. */
export interface HeaderMeaning {
  readonly name: string;
  /** The reference to the header of the components. */
  readonly reference: string;
  /** The statuses of the responses that have the header with this meaning. */
  readonly statuses: readonly string[];
}

/** The headers that every response of every operation has, with the same meaning. */
export function commonHeaders(document: OpenApiDocument): readonly HeaderMeaning[] {
  const responses = operationsOf(document).flatMap((operation) => responsesOf(operation, document.components));
  return headersOf(responses).filter(({ statuses }) => statuses.length === responses.length);
}

/** The headers that any of the responses has. The meanings of one name are beside each other. */
export function headersOf(responses: readonly StatusResponse[]): readonly HeaderMeaning[] {
  const byName = new Map<string, Map<string, string[]>>();
  for (const { status, response } of responses) {
    for (const [name, { $ref: reference }] of Object.entries(response.headers)) {
      const meanings = byName.get(name) ?? new Map<string, string[]>();
      byName.set(name, meanings.set(reference, [...(meanings.get(reference) ?? []), status]));
    }
  }
  return [...byName].flatMap(([name, meanings]) =>
    [...meanings].map(([reference, statuses]) => ({ name, reference, statuses })),
  );
}

/** `withStatuses` adds a column with the statuses of the responses that have the header. */
export function headerTable(
  meanings: readonly HeaderMeaning[],
  headers: Headers,
  { withStatuses }: { readonly withStatuses: boolean },
): Markup {
  const rows = meanings.map(({ name, reference, statuses }) => {
    const { description = "", example } = headers[reference.replace("#/components/headers/", "")] ?? {};
    const of = withStatuses ? html`<td class="statuses">${statuses.join(", ")}</td>` : undefined;
    return html`<tr><td><code>${name}</code></td>${of}<td>${prose(description)}</td><td class="example"><code>${String(example)}</code></td></tr>
`;
  });
  const statusHeading = withStatuses ? html`<th scope="col">Status</th>` : undefined;
  return html`<table><thead><tr><th scope="col">Header</th>${statusHeading}<th scope="col">Meaning</th><th scope="col">Example</th></tr></thead><tbody>
${rows}</tbody></table>`;
}
