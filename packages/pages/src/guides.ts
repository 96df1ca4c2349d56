import { readFileSync } from "node:fs";
import { problemReference } from "@petstore/core";
import type { Document } from "@petstore/http";
import { Marked } from "marked";
import { framed, type Guide, type Links } from "./frame.js";
import { html, trusted } from "./html.js";

export interface GuideFolder {
  /** Where the files are. */
  readonly directory: URL;
  /** The same from the root of the repository, as guides of other folders name it. */
  readonly folder: string;
  /** Below which the pages are. */
  readonly path: string;
  /** Of the files, without `.md`, in the order they are to be read in. */
  readonly names: readonly string[];
}

export function readGuides({ directory, folder, path, names }: GuideFolder): readonly Guide[] {
  return names.map((name) => {
    const markdown = readFileSync(new URL(`${name}.md`, directory), "utf8");
    return { path: `${path}/${name}`, title: titleOf(markdown), file: `${folder}/${name}.md`, markdown };
  });
}

/** The codes of both doors. */
export function errorsGuide(): Guide {
  const markdown = problemReference();
  return { path: "/docs/errors", title: titleOf(markdown), file: "packages/core/errors.md", markdown };
}

/** A page for each guide that is linked, and its Markdown, as it is in the repository, with `.md` behind the path. */
export function guideDocuments(links: Links): readonly Document[] {
  return links.guides.flatMap((guide) => {
    const main = html`<article class="guide">${trusted(markupOf(guide, links))}</article>`;
    const content = framed({ path: guide.path, title: guide.title, main }, links);
    return [
      { path: guide.path, mediaType: "text/html; charset=utf-8", content },
      { path: `${guide.path}.md`, mediaType: "text/markdown; charset=utf-8", content: guide.markdown },
    ];
  });
}

/** A link to a file leads to its page; where that file is no page here, its words stay and lead nowhere. */
function markupOf(guide: Guide, { guides }: Links): string {
  const marked = new Marked({
    async: false,
    renderer: {
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const target = targetOf(href, guide, guides);
        return target === undefined ? words : html`<a href="${target}">${trusted(words)}</a>`.markup;
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
  if (title === undefined) throw new Error(`a guide has no title: ${markdown.slice(0, 60)}`);
  return title.replaceAll("`", "");
}
