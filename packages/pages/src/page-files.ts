import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { errorGuide } from "@petstore/core";
import { notFoundPath, type StaticFile } from "@petstore/http";
import { type Page, renderPage } from "./frame.js";
import { html } from "./html.js";
import { type GuideLink, guideLinks } from "./links.js";
import { renderMarkdown } from "./markdown.js";

interface Guide extends GuideLink {
  readonly markdown: string;
}

/**
 * The pages, the guides in a folder, the guide to errors, the page for unknown paths, and the files that the pages load. Each
 * guide is served as Markdown too. `folder` is relative to the root of the repository, and `directory` is its URL.
 */
export function pageFiles(pages: readonly Page[], folder: string, directory: URL): readonly StaticFile[] {
  const guides = [...readGuides(folder, directory), ...readGuides("packages/core", errorGuide)];
  return [
    ...[...pages, ...guides.map(guidePage), notFound].map((page) => ({ ...page, content: () => renderPage(page) })),
    ...guides.map(({ path, markdown }) => ({ path: `${path}.md`, content: markdown })),
    // The compiled scripts are in `dist`.
    ...readAssets("../browser/", "/pages"),
    ...readAssets("./browser/", "/pages"),
  ];
}

/** The style sheets, scripts and icons in this folder. */
export function readAssets(folder: string, path: string): StaticFile[] {
  const directory = new URL(folder, import.meta.url);
  const names = readdirSync(directory).filter((name) => /\.(css|js|svg)$/.test(name));
  return names.map((name) => ({ path: `${path}/${name}`, content: readFileSync(new URL(name, directory)) }));
}

/** `directory` is the URL of the folder, or of a file in it. */
function readGuides(folder: string, directory: URL): readonly Guide[] {
  return guideLinks
    .filter(({ file }) => dirname(file) === folder)
    .map((link) => ({ ...link, markdown: readFileSync(new URL(basename(link.file), directory), "utf8") }));
}

function guidePage(guide: Guide): Page {
  const article = () => renderMarkdown(guide.markdown, (href) => targetOf(href, guide));
  return { ...guide, main: () => html`<article class="guide">${article()}</article>`, module: "guide" };
}

const notFound: Page = {
  path: notFoundPath,
  title: "Page not found",
  main: () => html`<h1>Page not found</h1>
<p class="lead">This service has no page at this address.</p>
<p>Check the address for a typing error, or start at the <a href="/">first page</a>. The guides are listed below.</p>`,
};

/** A link to a guide has its page as target. A link to another file has no target. */
function targetOf(href: string, { file }: Guide): string | undefined {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const { pathname, hash } = new URL(href, `file:///${file}`);
  const found = guideLinks.find((guide) => `/${guide.file}` === pathname);
  return found && `${found.path}${hash}`;
}
