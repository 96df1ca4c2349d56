// Mounts GraphiQL when a key is entered, sends its requests with that key, and shows the headers of the last response.
import { apiKey, openKeyForm } from "./api-key.js";
import { byId, headersTable, remainingText, within } from "./elements.js";

/** Globals of the scripts that run before this module. */
declare const React: { createElement(kind: unknown, properties: object): unknown };
declare const ReactDOM: { createRoot(container: Element): { render(node: unknown): void } };
declare const GraphiQL: unknown;

interface GraphiqlRequest {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: unknown;
}

const readyQueries = [
  {
    query: `# The available pets, five per page.
# Each root field costs one request.
query Available($after: String) {
  petsConnection(
    first: 5, after: $after
    status: available
  ) {
    nodes { id name categoryId status }
    pageInfo { hasNextPage endCursor }
  }
}
`,
  },
  {
    query: `# Repeat this with the same key:
# it adds only one pet.
mutation Add($input: NewPet!, $key: String) {
  createPet(input: $input, idempotencyKey: $key) {
    id name categoryId status
  }
}
`,
    variables: `{
  "input": { "name": "Ada", "categoryId": "9223372036854775807" },
  "key": "try-graphiql-once"
}`,
  },
  {
    query: `# Two root fields cost two requests.
query SoldAndPending {
  sold: pets(limit: 2, status: sold) {
    id name
  }
  pending: pets(limit: 2, status: pending) {
    id name
  }
}
`,
  },
];

const container = byId("graphiql");
const root = ReactDOM.createRoot(container);
new MutationObserver(fixAccessibility).observe(container, {
  childList: true,
  subtree: true,
  attributeFilter: ["aria-selected"],
});
const state = byId("answer-state");
openKeyForm(mount);

/** Mounts GraphiQL again for each key, because the schema is loaded with the key. */
function mount(): void {
  const key = apiKey();
  if (key === undefined) {
    root.render(null);
    state.textContent = "Enter an API key to load the schema.";
    return;
  }
  const fetcher = (request: GraphiqlRequest) => sendRequest(request, key);
  root.render(
    React.createElement(GraphiQL, { key, fetcher, defaultTabs: readyQueries, isHeadersEditorEnabled: false }),
  );
}

/**
 * Corrects accessibility defects each time GraphiQL adds elements. Editors have no accessible name. Scrolling areas cannot
 * get the keyboard focus. A tab must not contain buttons (ARIA 1.2, "tab": children presentational), so the tab roles are
 * removed, and a list of buttons remains.
 */
function fixAccessibility(): void {
  for (const editor of container.querySelectorAll("section[aria-label] textarea:not([aria-label])")) {
    editor.setAttribute("aria-label", editor.closest("section")?.getAttribute("aria-label") ?? "");
  }
  for (const scroller of container.querySelectorAll(".CodeMirror-scroll[tabindex='-1']"))
    scroller.setAttribute("tabindex", "0");
  container.querySelector("[role='tablist']")?.removeAttribute("role");
  for (const tab of container.querySelectorAll(".graphiql-tab")) {
    for (const attribute of ["role", "aria-selected"]) tab.removeAttribute(attribute);
    const isCurrent = tab.classList.contains("graphiql-tab-active");
    tab.querySelector("button")?.setAttribute("aria-current", `${isCurrent}`);
  }
  container.querySelector("[role='tabpanel']")?.setAttribute("role", "region");
}

async function sendRequest({ operationName, ...request }: GraphiqlRequest, key: string): Promise<unknown> {
  // After a tab change GraphiQL sends the operation name of the previous tab.
  const isInQuery = operationName && new RegExp(`\\b${operationName}\\b`).test(request.query);
  const response = await fetch("/graphql", {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify(isInQuery ? { ...request, operationName } : request),
  });
  // The user may have changed or removed the key.
  if (key === apiKey()) showHeaders(response);
  // JSON.parse rounds nothing here, because identifiers are strings in GraphQL.
  return response.json();
}

function showHeaders(response: Response): void {
  const { status, statusText, headers } = response;
  state.textContent = `${status} ${statusText}, ${remainingText(response)}`;
  const details = byId("answer-headers");
  details.hidden = false;
  within(details, "table").replaceWith(headersTable(headers));
}
