/** Returns the element with this id. Throws if the page does not have it, because page and script then do not match. */
export function byId<T extends Element>(id: string, kind: new () => T): T {
  return within(document, `#${id}`, kind);
}

export function within<T extends Element>(parent: ParentNode, selector: string, kind: new () => T): T {
  const found = parent.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`the page has no element ${selector}`);
  return found;
}

/** Creates an element. Strings become text and are never parsed as HTML. */
export function element(name: string, className: string, ...content: readonly (string | Node)[]): HTMLElement {
  const created = document.createElement(name);
  if (className !== "") created.className = className;
  created.append(...content);
  return created;
}

export function headerRows(headers: Headers): HTMLElement[] {
  const cell = (text: string) => element("td", "", element("code", "", text));
  return [...headers].map(([name, value]) => element("tr", "", cell(name), cell(value)));
}

/** Also for a response without these headers, as from a proxy. */
export function remainingText(headers: Headers): string {
  const remaining = headers.get("X-RateLimit-Remaining");
  if (remaining === null) return "no X-RateLimit headers";
  return `${remaining} of ${headers.get("X-RateLimit-Limit")} requests left`;
}
