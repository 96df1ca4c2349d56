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

/** The headers that are shown first. The others follow in alphabetical order. */
const first = [
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "retry-after",
  "link",
  "deprecation",
  "sunset",
  "idempotency-replayed",
  "x-request-id",
];

export function headerRows(headers: Headers): HTMLElement[] {
  const names = [
    ...first.filter((name) => headers.has(name)),
    ...[...headers.keys()].filter((name) => !first.includes(name)),
  ];
  const cell = (text: string) => element("td", "", element("code", "", text));
  return names.map((name) => element("tr", "", cell(name), cell(headers.get(name) ?? "")));
}
