import { html, type Markup } from "./html.js";

export interface Link {
  readonly path: string;
  readonly title: string;
}

/** A page that was written as Markdown. */
export interface Guide extends Link {
  /** From the root of the repository. */
  readonly file: string;
  readonly markdown: string;
}

/** What a page can lead to. */
export interface Links {
  readonly pages: readonly Link[];
  readonly guides: readonly Guide[];
}

export interface Page extends Link {
  readonly main: Markup;
  /** Style sheets beside those every page has, by name. */
  readonly styles?: readonly string[];
  /** Scripts that must have run before the module. */
  readonly scripts?: readonly string[];
  /** The script that brings the page to life. */
  readonly module?: string;
}

/** A whole page: what all of them share around what is theirs. */
export function framed(
  { path, title, main, styles = [], scripts = [], module }: Page,
  { pages, guides }: Links,
): string {
  const link = (to: Link) =>
    html`<li><a href="${to.path}"${to.path === path ? html` aria-current="page"` : undefined}>${to.title}</a></li>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} - Pet store</title>
<link rel="icon" href="/pages/icon.svg" type="image/svg+xml">
${["frame", "controls", ...styles].map((name) => html`<link rel="stylesheet" href="/pages/${name}.css">`)}
${scripts.map((name) => html`<script defer src="/pages/${name}.js"></script>`)}
${module === undefined ? undefined : html`<script type="module" src="/pages/${module}.js"></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="brand" href="/"><img src="/pages/icon.svg" alt="" width="28" height="28">Pet store</a>
<nav aria-label="Pages"><ul>
${pages.map(link)}
</ul></nav>
</header>
<main id="main">
${main}
</main>
${guides.length === 0 ? undefined : html`<footer><nav aria-label="Guides"><h2>Guides</h2><ul>${guides.map(link)}</ul></nav></footer>`}
</body>
</html>
`.markup;
}

/** Where a key is entered, once for all pages of a tab. The scripts of the page bring it to life. */
export const keyForm: Markup = html`<form id="key" class="key" autocomplete="off">
<label for="key-input">API key</label>
<div class="row">
<input id="key-input" type="password" spellcheck="false" autocapitalize="none" autocomplete="off" placeholder="pets_live_...">
<button type="submit">Use this key</button>
<button type="button" id="key-forget" class="quiet" hidden>Forget it</button>
</div>
<p id="key-state" role="status">Kept in this tab until it is closed, and sent to nobody but this service.</p>
</form>`;
