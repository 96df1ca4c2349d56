import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { Page } from "./frame.js";
import { html } from "./html.js";
import { type GuideLink, guideLinks } from "./links.js";
import { renderMarkdown, replaceLinks } from "./markdown.js";

export interface Guide extends GuideLink {
  readonly folder: URL;
  readonly markdown: string;
}

/** Reads the guides of a folder. `name` is its path from the root of the repository, and `folder` is where it is. */
export function readGuides(name: string, folder: URL): readonly Guide[] {
  return guideLinks
    .filter(({ file }) => dirname(file) === name)
    .map((link) => ({ ...link, folder, markdown: readFileSync(new URL(basename(link.file), folder), "utf8") }));
}

/** The images of a guide, by their paths: they are beside its Markdown file, and beside its page. */
export function imagesOf({ path, folder, markdown }: Guide): readonly (readonly [path: string, content: Buffer])[] {
  const names = [...markdown.matchAll(/!\[[^\]]*\]\(([\w-]+\.svg)\)/g)].map(([, name = ""]) => name);
  return names.map((name) => [`${dirname(path)}/${name}`, readFileSync(new URL(name, folder))]);
}

/** A code of an error leads to its place in the guide to errors. */
export function guidePage(guide: Guide, codes: ReadonlySet<string>): Page {
  const article = renderMarkdown(guide.markdown, {
    ofLink: (href) => targetOf(href, guide),
    ofCode: (text) => (codes.has(text) ? `${errorGuide}#${text}` : undefined),
  });
  return {
    ...guide,
    main: html`<article class="guide">${article}</article>`,
    styles: ["code"],
    module: "guide",
    markdownPath: `${guide.path}.md`,
  };
}

/**
 * The Markdown that the service serves. Its links are those of the page, but a guide leads to the Markdown of another one, and
 * images stay.
 */
export function servedMarkdown(guide: Guide): string {
  return replaceLinks(guide.markdown, (href) => targetOf(href, guide, ".md"));
}

/** A link to a guide has its page as target. A link to another file has no target. */
function targetOf(href: string, { file }: Guide, extension: "" | ".md" = ""): string | undefined {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const { pathname, hash } = new URL(href, `file:///${file}`);
  const found = guideLinks.find((guide) => `/${guide.file}` === pathname);
  return found && `${found.path}${extension}${hash}`;
}

const errorGuide = "/docs/errors";

/** The codes that have an anchor in the guide to errors, if that is among the guides. */
export function errorCodesOf(guides: readonly Guide[]): ReadonlySet<string> {
  const guide = guides.find(({ path }) => path === errorGuide);
  return new Set([...(guide?.markdown ?? "").matchAll(/<a id="(\w+)"/g)].map(([, code = ""]) => code));
}
