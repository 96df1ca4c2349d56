/** Safe HTML. Only `html` and `trusted` create it, so that no page contains unescaped text by accident. */
export interface Markup {
  readonly markup: string;
}

type Insertable = string | Markup | readonly Markup[] | undefined;

/** A template tag that escapes its values. Markup is inserted unchanged, and `undefined` inserts nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly Insertable[]): Markup {
  return { markup: strings.map((text, index) => text + render(values[index])).join("") };
}

/** Marks HTML as safe without escaping it. Use it only for content of this repository. */
export function trusted(markup: string): Markup {
  return { markup };
}

function render(value: Insertable): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  return "markup" in value ? value.markup : value.map(({ markup }) => markup).join("");
}
