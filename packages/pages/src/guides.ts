import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Page } from "./frame.js";
import { html } from "./html.js";
import { type GuideLink, guideLinks } from "./links.js";
import { renderMarkdown } from "./markdown.js";

export interface Guide extends GuideLink {
  readonly markdown: string;
}

/** Reads the guides in this folder. `folder` is relative to the root of the repository. */
export function readGuides(folder: string): readonly Guide[] {
  return guideLinks
    .filter(({ file }) => dirname(file) === folder)
    .map((link) => ({ ...link, markdown: readFileSync(new URL(`../../../${link.file}`, import.meta.url), "utf8") }));
}

/** The images of a guide, by their paths: they are beside its Markdown file, and beside its page. */
export function imagesOf({ path, file, markdown }: Guide): readonly (readonly [path: string, content: Buffer])[] {
  const names = [...markdown.matchAll(/!\[[^\]]*\]\(([\w-]+\.svg)\)/g)].map(([, name = ""]) => name);
  return names.map((name) => {
    const content = readFileSync(new URL(`../../../${dirname(file)}/${name}`, import.meta.url));
    return [`${dirname(path)}/${name}`, content];
  });
}

export function guidePage(guide: Guide): Page {
  const codes = readErrorCodes();
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

/** A link to a guide has its page as target. A link to another file has no target. */
function targetOf(href: string, { file }: Guide): string | undefined {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const { pathname, hash } = new URL(href, `file:///${file}`);
  const found = guideLinks.find((guide) => `/${guide.file}` === pathname);
  return found && `${found.path}${hash}`;
}

const errorGuide = "/docs/errors";

/** The codes that have an anchor in the guide to errors. */
function readErrorCodes(): ReadonlySet<string> {
  const guide = readGuides("packages/core").find(({ path }) => path === errorGuide);
  return new Set([...(guide?.markdown ?? "").matchAll(/<a id="(\w+)"/g)].map(([, code = ""]) => code));
}
