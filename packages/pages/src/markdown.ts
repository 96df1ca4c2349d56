import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import graphql from "highlight.js/lib/languages/graphql";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";
import { Marked, marked, type Token, type Tokens } from "marked";
import { html, type Markup, trusted } from "./html.js";

/** The languages of code in the guides, by the name after the fence. */
const languages = { graphql, js: javascript, json, py: python, sh: bash, ts: typescript };

/** A guide with fewer sections needs no table of contents. */
const fewestSections = 5;

export interface LinkTargets {
  /** The address that a link leads to. A link without one becomes plain text. */
  ofLink(href: string): string | undefined;
  /** The address of the explanation of an error code, if the text is one. */
  ofCode(text: string): string | undefined;
}

/**
 * Renders a guide: headings are links to themselves, a long guide has a table of contents below its title, code is highlighted,
 * and error codes lead to their explanation.
 */
export function renderMarkdown(markdown: string, targets: LinkTargets): Markup {
  const highlighter = hljs.newInstance();
  for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language);
  /** A link must not contain another one. */
  let isInLink = false;
  function linkText(parser: InlineParser, tokens: Token[]): Markup {
    isInLink = true;
    const text = trusted(parser.parseInline(tokens));
    isInLink = false;
    return text;
  }

  const renderer = new Marked({
    async: false,
    renderer: {
      link({ href, tokens }) {
        const text = linkText(this.parser, tokens);
        const target = targets.ofLink(href);
        return target === undefined ? text.markup : html`<a href="${target}">${text}</a>`.markup;
      },
      heading({ depth, text, tokens }) {
        const content = linkText(this.parser, tokens);
        if (depth === 1) return html`<h1 id="${slugOf(text)}">${content}</h1>\n${contents(this.parser)}`.markup;
        const name = trusted(`h${depth}`);
        return html`<${name} id="${slugOf(text)}"><a href="#${slugOf(text)}">${content}</a></${name}>\n`.markup;
      },
      codespan({ text }) {
        const code = html`<code>${text}</code>`;
        const target = isInLink ? undefined : targets.ofCode(text);
        return target === undefined ? code.markup : html`<a href="${target}">${code}</a>`.markup;
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
  const blocks = renderer.lexer(markdown);
  const sections = blocks.filter((block): block is Tokens.Heading => block.type === "heading" && block.depth === 2);

  function contents(parser: InlineParser): Markup | undefined {
    if (sections.length < fewestSections) return undefined;
    const links = sections.map(
      ({ text, tokens }) => html`<li><a href="#${slugOf(text)}">${linkText(parser, tokens)}</a></li>`,
    );
    return html`<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${links}</ul></nav>\n`;
  }

  return trusted(renderer.parser(blocks));
}

/** Gives each link of a Markdown text its target. A link without one becomes its text. Images and code stay as they are. */
export function replaceLinks(markdown: string, targetOf: LinkTargets["ofLink"]): string {
  const links: Tokens.Link[] = [];
  void marked.walkTokens(marked.lexer(markdown), (token) => {
    if (token.type === "link") links.push(token as Tokens.Link);
  });
  return links.reduce((text, { raw, href, text: label }) => {
    const target = targetOf(href);
    return text.replaceAll(raw, () => (target === undefined ? label : `[${label}](${target})`));
  }, markdown);
}

interface InlineParser {
  parseInline(tokens: Token[]): string;
}

/** The anchor of GitHub, so that links to a heading work on GitHub and on this page. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}
