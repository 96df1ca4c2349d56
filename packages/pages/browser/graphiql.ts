// Mounts GraphiQL once there is a key, sends what it asks with that key, and shows the headers of every answer.
import { apiKey, openKeyForm } from "./api-key.js";
import { byId, within } from "./elements.js";
import { headerRows } from "./header-rows.js";

/** What the scripts before this one have left on the page. */
declare const React: { createElement(kind: unknown, properties: object): unknown };
declare const ReactDOM: { createRoot(at: Element): { render(what: unknown): void } };
declare const GraphiQL: unknown;

interface GraphqlRequest {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: unknown;
}

const readyQueries = [
  {
    query: `# What is on offer, in pages.
# Every root field costs one request.
query Available($after: String) {
  petsConnection(
    first: 5
    after: $after
    status: available
  ) {
    nodes {
      id
      name
      categoryId
      status
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,
  },
  {
    query: `# With its key the same call adds
# one animal, however often it is sent.
mutation Add($input: NewPet!, $key: String) {
  createPet(
    input: $input
    idempotencyKey: $key
  ) {
    id
    name
    categoryId
    status
  }
}
`,
    variables: `{
  "input": { "name": "Ada", "categoryId": "9223372036854775807" },
  "key": "try-graphiql-once"
}`,
  },
  {
    query: `# Two root fields, two requests.
query SoldAndPending {
  sold: pets(limit: 2, status: sold) {
    id
    name
  }
  pending: pets(limit: 2, status: pending) {
    id
    name
  }
}
`,
  },
];

const place = byId("graphiql", HTMLElement);
const root = ReactDOM.createRoot(place);
new MutationObserver(mendAccess).observe(place, {
  childList: true,
  subtree: true,
  attributeFilter: ["aria-selected"],
});
const state = byId("answer-state", HTMLElement);
openKeyForm(mount);
mount();

/** Anew for every key, because each one reads the schema for itself. */
function mount(): void {
  const key = apiKey();
  if (key === undefined) {
    root.render(null);
    state.textContent = "Enter a key to begin: the schema is shown to key holders.";
    return;
  }
  const fetcher = (request: GraphqlRequest) => ask(request, key);
  root.render(
    React.createElement(GraphiQL, { key, fetcher, defaultTabs: readyQueries, isHeadersEditorEnabled: false }),
  );
}

/**
 * GraphiQL's parts appear one by one, and some cannot be used without a mouse or are read out wrongly: editors have no
 * names, what scrolls cannot be reached by the keyboard, and a tab that holds a button is not a tab (ARIA 1.2, "tab":
 * children presentational), so its list becomes the list of buttons that it is.
 */
function mendAccess(): void {
  for (const editor of place.querySelectorAll("section[aria-label] textarea:not([aria-label])")) {
    editor.setAttribute("aria-label", editor.closest("section")?.getAttribute("aria-label") ?? "");
  }
  for (const frame of place.querySelectorAll(".CodeMirror-scroll[tabindex='-1']")) frame.setAttribute("tabindex", "0");
  place.querySelector("[role='tablist']")?.removeAttribute("role");
  for (const tab of place.querySelectorAll(".graphiql-tab")) {
    for (const attribute of ["role", "aria-selected"]) tab.removeAttribute(attribute);
    const isCurrent = tab.classList.contains("graphiql-tab-active");
    tab.querySelector("button")?.setAttribute("aria-current", `${isCurrent}`);
  }
  place.querySelector("[role='tabpanel']")?.setAttribute("role", "region");
}

async function ask(request: GraphqlRequest, key: string): Promise<unknown> {
  const response = await fetch("/graphql", {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify(withItsOwnName(request)),
  });
  const { status, statusText, headers } = response;
  const left = `${headers.get("X-RateLimit-Remaining")} of ${headers.get("X-RateLimit-Limit")} requests left`;
  state.textContent = `${status} ${statusText}, ${left}`;
  const details = byId("answer-headers", HTMLElement);
  details.hidden = false;
  within(details, "tbody", HTMLElement).replaceChildren(...headerRows(headers));
  // Identifiers are strings in GraphQL, so that reading the answer rounds nothing.
  return response.json();
}

/** Just after a change of tabs GraphiQL still sends the name of an operation of the tab before. */
function withItsOwnName({ operationName, ...request }: GraphqlRequest): GraphqlRequest {
  const isOwn = operationName && new RegExp(`\\b${operationName}\\b`).test(request.query);
  return isOwn ? { ...request, operationName } : request;
}
