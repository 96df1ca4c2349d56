import { readFileSync } from "node:fs";
import { problemReference } from "@petstore/core";
import type { StaticFile } from "@petstore/http";
import { Marked } from "marked";
import { pageAssets } from "./assets.js";
import { type Guide, type Links, type Page, renderPage } from "./frame.js";
import { html, trusted } from "./html.js";

export interface GuideFolder {
  readonly directory: URL;
  /** The same folder relative to the root of the repository, to resolve links between guides. */
  readonly folder: string;
  readonly path: string;
  /** The file names without `.md`, in reading order. */
  readonly names: readonly string[];
}

export function readGuides({ directory, folder, path, names }: GuideFolder): readonly Guide[] {
  return names.map((name) => {
    const markdown = readFileSync(new URL(`${name}.md`, directory), "utf8");
    return { path: `${path}/${name}`, title: titleOf(markdown), file: `${folder}/${name}.md`, markdown };
  });
}

/**
 * The pages, the guides that they link to with the guide to errors, and the files that all of them load. A guide is also
 * there as Markdown.
 */
export function pageFiles(pages: readonly Page[], apiLinks: Links): readonly StaticFile[] {
  const markdown = problemReference();
  const errors = { path: "/docs/errors", title: titleOf(markdown), file: "packages/core/errors.md", markdown };
  const links = { ...apiLinks, guides: [...apiLinks.guides, errors] };
  const guides: (Page & Guide)[] = links.guides.map((guide) => {
    return { ...guide, main: html`<article class="guide">${trusted(renderGuide(guide, links))}</article>` };
  });
  return [
    ...[...pages, ...guides].map((page) => ({
      path: page.path,
      mediaType: "text/html; charset=utf-8",
      content: renderPage(page, links),
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
function renderGuide(guide: Guide, { guides }: Links): string {
  const marked = new Marked({
    async: false,
    renderer: {
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(href, guide, guides);
        return target === undefined ? text : html`<a href="${target}">${trusted(text)}</a>`.markup;
      },
    },
  });
  return marked.parse(guide.markdown, { async: false });
}

function targetOf(href: string, { file }: Guide, guides: readonly Guide[]): string | undefined {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const { pathname, hash } = new URL(href, `file:///${file}`);
  const found = guides.find((guide) => `/${guide.file}` === pathname);
  return found && `${found.path}${hash}`;
}

function titleOf(markdown: string): string {
  const title = /^# (.+)$/m.exec(markdown)?.[1];
  if (title === undefined) throw new Error(`the guide has no title: ${markdown.slice(0, 60)}`);
  return title.replaceAll("`", "");
}
