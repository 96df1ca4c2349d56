import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import graphql from "highlight.js/lib/languages/graphql";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";
import { Marked, type Tokens } from "marked";
import { html, type Markup, trusted } from "./html.js";

/** The languages of code in the guides, by the name after the fence. */
const languages = { graphql, js: javascript, json, py: python, sh: bash, ts: typescript };

/** Renders a guide: headings are links to themselves, code is highlighted, and a link without a target becomes plain text. */
export function renderMarkdown(markdown: string, targetOf: (href: string) => string | undefined): Markup {
  const highlighter = hljs.newInstance();
  for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language);
  const marked = new Marked({
    async: false,
    renderer: {
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(href);
        return target === undefined ? text : html`<a href="${target}">${trusted(text)}</a>`.markup;
      },
      heading({ depth, text, tokens }) {
        const content = trusted(this.parser.parseInline(tokens));
        const name = trusted(`h${depth}`);
        const linked = depth === 1 ? content : html`<a href="#${slugOf(text)}">${content}</a>`;
        return html`<${name} id="${slugOf(text)}">${linked}</${name}>\n`.markup;
      },
      code({ text, lang = "" }: Tokens.Code) {
        const isKnown = highlighter.getLanguage(lang) !== undefined;
        const content = isKnown ? trusted(highlighter.highlight(text, { language: lang }).value) : html`${text}`;
        // The keyboard can scroll a long line only if the block can get the focus.
        return html`<div class="code" data-language="${lang}"><pre tabindex="0"><code>${content}</code></pre></div>\n`
          .markup;
      },
    },
  });
  return trusted(marked.parse(markdown, { async: false }));
}

/** The anchor of GitHub, so that links to a heading work on GitHub and on this page. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}
