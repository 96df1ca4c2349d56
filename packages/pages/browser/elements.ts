/** Throws if the page has no element with this id. */
export function byId(id: string): HTMLElement {
  return within(document, `#${id}`);
}

export function within(parent: ParentNode, selector: string): HTMLElement {
  const found = parent.querySelector<HTMLElement>(selector);
  if (found === null) throw new Error(`the page has no element ${selector}`);
  return found;
}

/** Creates an element. Strings become text and are never parsed as HTML. */
export function element(name: string, ...content: readonly (string | Node)[]): HTMLElement {
  const created = document.createElement(name);
  created.append(...content);
  return created;
}

export function link(address: string, text: string): HTMLElement {
  const created = element("a", text);
  created.setAttribute("href", address);
  return created;
}

/** The code of an error, with a link to its explanation. */
export function codeLink(code: string): HTMLElement {
  const created = link(`/docs/errors#${encodeURIComponent(code)}`, "");
  created.append(element("code", code));
  return created;
}

export function headersTable(headers: Headers): HTMLElement {
  const cell = (text: string) => element("td", element("code", text));
  const table = element("table", ...[...headers].map(([name, value]) => element("tr", cell(name), cell(value))));
  table.className = "headers";
  return table;
}

/** Requests with a valid key use the quota of its account. All others use that of their address. */
export function remainingText({ status, headers }: Response): string {
  const remaining = headers.get("X-RateLimit-Remaining");
  if (remaining === null) return "no X-RateLimit headers";
  const units = `${remaining} of ${headers.get("X-RateLimit-Limit")}`;
  return status === 401 ? `your address has ${units} requests without a valid key left` : `${units} requests left`;
}
