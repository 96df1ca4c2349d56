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

export function headersTable(headers: Headers): HTMLElement {
  const cell = (text: string) => element("td", element("code", text));
  const table = element("table", ...[...headers].map(([name, value]) => element("tr", cell(name), cell(value))));
  table.className = "headers";
  return table;
}

export function remainingText(headers: Headers): string {
  const remaining = headers.get("X-RateLimit-Remaining");
  if (remaining === null) return "no X-RateLimit headers";
  return `${remaining} of ${headers.get("X-RateLimit-Limit")} requests left`;
}
