import type { Page } from "./frame.js";
import { html, type Markup } from "./html.js";
import { type DescribedLink, fileLinks, guideLinks } from "./links.js";

/** The list of all guides, at `/docs`. */
export const guidesPage: Page = {
  path: "/docs",
  title: "Guides",
  main: html`<h1>Guides</h1>
<p class="lead">How to use both APIs. Each guide is also there as Markdown: add <code>.md</code> to its address.</p>
<section aria-labelledby="guides-title"><h2 id="guides-title">To read</h2>
${described(guideLinks)}
</section>
<section aria-labelledby="files-title"><h2 id="files-title">For programs</h2>
${described(fileLinks)}
</section>`,
};

function described(links: readonly DescribedLink[]): Markup {
  return html`<dl>
${links.map(({ path, title, about }) => html`<dt><a href="${path}">${title}</a></dt><dd>${about}</dd>\n`)}
</dl>`;
}
