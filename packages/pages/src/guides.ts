import { problemReference } from "@petstore/core";
import { notFoundPath, type StaticFile } from "@petstore/http";
import { pageAssets } from "./assets.js";
import { type Page, renderPage } from "./frame.js";
import { html } from "./html.js";
import { type Guide, guideLinks } from "./links.js";
import { createMarkdownRenderer } from "./markdown.js";

/**
 * The pages, the guides of an API with the guide to errors, the page for unknown paths, and the files that all of them load.
 * A guide is also there as Markdown.
 */
export function pageFiles(pages: readonly Page[], apiGuides: readonly Guide[]): readonly StaticFile[] {
  const errors = guideLinks.filter(({ path }) => path === "/docs/errors");
  const guides = [...apiGuides, ...errors.map((link) => ({ ...link, markdown: problemReference() }))];
  const renderMarkdown = createMarkdownRenderer();
  const guidePages = guides.map((guide): Page => {
    const article = () => renderMarkdown(guide.markdown, (href) => targetOf(href, guide));
    return {
      ...guide,
      main: () => html`<article class="guide">${article()}</article>`,
      styles: ["guide"],
      module: "guide",
    };
  });
  return [
    ...[...pages, ...guidePages, notFound].map((page) => ({
      path: page.path,
      mediaType: "text/html; charset=utf-8",
      content: () => renderPage(page),
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

const notFound: Page = {
  path: notFoundPath,
  title: "Page not found",
  main: () => html`<h1>Page not found</h1>
<p class="lead">This service has no page at this address.</p>
<p>Check the address for a typing error, or start at the <a href="/">first page</a>. The guides are listed below.</p>`,
};

/** A link to another guide leads to its page, and a link to any other file leads nowhere. */
function targetOf(href: string, { file }: Guide): string | undefined {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const { pathname, hash } = new URL(href, `file:///${file}`);
  const found = guideLinks.find((guide) => `/${guide.file}` === pathname);
  return found && `${found.path}${hash}`;
}
