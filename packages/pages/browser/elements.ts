/** The element with this id, of this kind: the page holds it, or the page and its script do not belong together. */
export function byId<T extends Element>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

export function within<T extends Element>(parent: ParentNode, selector: string, kind: new () => T): T {
  const found = parent.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`the page has no ${selector}`);
  return found;
}

/** An element with text in it or other elements; never markup. */
export function element(name: string, className: string, ...content: readonly (string | Node)[]): HTMLElement {
  const made = document.createElement(name);
  if (className !== "") made.className = className;
  made.append(...content);
  return made;
}
