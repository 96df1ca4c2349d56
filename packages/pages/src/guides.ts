import { problemReference } from "@petstore/core";
import type { StaticFile } from "@petstore/http";
import { Marked } from "marked";
import { pageAssets } from "./assets.js";
import { type Page, renderPage } from "./frame.js";
import { html, trusted } from "./html.js";
import { type Guide, guideLinks } from "./links.js";

/**
 * The pages, the guides of an API with the guide to errors, and the files that all of them load. A guide is also there as
 * Markdown.
 */
export function pageFiles(pages: readonly Page[], apiGuides: readonly Guide[]): readonly StaticFile[] {
  const errors = guideLinks.filter(({ path }) => path === "/docs/errors");
  const guides = [...apiGuides, ...errors.map((link) => ({ ...link, markdown: problemReference() }))];
  const guidePages: readonly Page[] = guides.map((guide) => {
    return { ...guide, main: html`<article class="guide">${trusted(renderGuide(guide))}</article>` };
  });
  return [
    ...[...pages, ...guidePages].map((page) => ({
      path: page.path,
      mediaType: "text/html; charset=utf-8",
      content: renderPage(page),
      ...(page.contentSecurityPolicy !== undefined && { contentSecurityPolicy: page.contentSecurityPolicy }),
    })),
    ...guides.map(({ path, markdown }) => ({
      path: `${path}.md`,
      mediaType: "text/markdown; charset=utf-8",
      content: markdown,
    })),
    ...pageAssets(),
  ];
}

/** Renders the Markdown. A link to another guide becomes a link to its page; links to other files become plain text. */
function renderGuide(guide: Guide): string {
  const marked = new Marked({
    async: false,
    renderer: {
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(href, guide);
        return target === undefined ? text : html`<a href="${target}">${trusted(text)}</a>`.markup;
      },
    },
  });
  return marked.parse(guide.markdown, { async: false });
}

function targetOf(href: string, { file }: Guide): string | undefined {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const { pathname, hash } = new URL(href, `file:///${file}`);
  const found = guideLinks.find((guide) => `/${guide.file}` === pathname);
  return found && `${found.path}${hash}`;
}
