/** Text that is HTML already. Only `html` and `trusted` make it, so nothing gets into a page unescaped by accident. */
export interface Markup {
  readonly markup: string;
}

type Insertable = string | number | Markup | readonly Markup[] | undefined;

/** A template whose values are escaped, unless they are markup themselves; `undefined` leaves nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly Insertable[]): Markup {
  return { markup: strings.map((text, index) => text + written(values[index])).join("") };
}

/** For markup made elsewhere, from what this repository holds. */
export function trusted(markup: string): Markup {
  return { markup };
}

function written(value: Insertable): string {
  if (value === undefined) return "";
  if (typeof value === "string" || typeof value === "number") return escaped(`${value}`);
  return "markup" in value ? value.markup : value.map(({ markup }) => markup).join("");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
