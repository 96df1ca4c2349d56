import { html, type Markup } from "./html.js";
import { fileLinks, guideLinks, type Link, pageLinks } from "./links.js";

export interface Page extends Link {
  readonly main: Markup;
  /** The names of style sheets that not every page loads. */
  readonly styles?: readonly string[];
  /** The names of scripts that run before the module. */
  readonly scripts?: readonly string[];
  /** The name of the page's own script, an ES module, and of its own style sheet. */
  readonly module?: string;
  /** The path of the same content as Markdown. */
  readonly markdownPath?: string;
}

export function renderPage({ path, title, main, styles = [], scripts = [], module, markdownPath }: Page): string {
  const own = module === undefined ? [] : [module];
  const styleSheets = ["frame", "controls", ...styles, ...own];
  const current = html` aria-current="page"`;
  const markdown =
    markdownPath === undefined ? undefined : html`<link rel="alternate" type="text/markdown" href="${markdownPath}">\n`;
  const link = (to: Link) =>
    html`<li><a href="${to.path}"${to.path === path ? current : undefined}>${to.title}</a></li>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} - Pet store</title>
<link rel="icon" href="/pages/icon.svg" type="image/svg+xml">
<link rel="api-catalog" href="/.well-known/api-catalog">
<link rel="service-desc" href="/openapi.json" type="application/json">
${markdown}${styleSheets.map((name) => html`<link rel="stylesheet" href="/pages/${name}.css">`)}
${scripts.map((name) => html`<script defer src="/pages/${name}.js"></script>`)}
${own.map((name) => html`<script type="module" src="/pages/${name}.js"></script>`)}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="brand" href="/"><img src="/pages/icon.svg" alt="" width="28" height="28">Pet store</a>
<nav aria-label="Pages"><ul>
${pageLinks.map(link)}
</ul></nav>
</header>
<main id="main">
${main}
</main>
<footer>
<nav aria-label="Guides"><h2>Guides</h2><ul>${guideLinks.map(link)}</ul></nav>
<nav aria-label="Files for programs"><h2>For programs</h2><ul>${fileLinks.map(link)}</ul></nav>
</footer>
</body>
</html>
`.markup;
}

/** The form for the API key. `openKeyForm` in browser/api-key.ts handles it. */
export const keyForm: Markup = html`<form id="key" class="key" autocomplete="off">
<label for="key-input">API key</label>
<div class="row">
<input id="key-input" type="password" spellcheck="false" autocapitalize="none" autocomplete="off" placeholder="pets_live_... or pets_test_...">
<button type="submit">Use this key</button>
<button type="button" id="key-forget" class="quiet" disabled>Forget key</button>
</div>
<p id="key-state" class="about" role="status">The key stays in this tab until you close it, and is sent only to this service.</p>
<noscript><p class="about">This form needs JavaScript.</p></noscript>
</form>`;
