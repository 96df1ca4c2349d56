import { html, type Markup } from "../html.js";

/** Renders text in backticks as code. */
export function prose(text: string): readonly Markup[] {
  return text.split("`").map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
}
