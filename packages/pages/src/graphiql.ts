/**
 * GraphiQL, with nothing from a CDN. Its fourth version, which edits with CodeMirror: the fifth brings Monaco, which is
 * five times as much to load and runs workers.
 */
import type { Document } from "@petstore/http";
import { pageAssets, vendoredAssets } from "./assets.js";
import { framed, keyForm, type Links } from "./frame.js";
import { guideDocuments } from "./guides.js";
import { html } from "./html.js";

export interface GraphiqlOptions {
  readonly path: string;
  readonly links: Links;
}

/** The page at `path`, the guides it leads to, and what these load. */
export function graphiqlDocuments({ path, links }: GraphiqlOptions): readonly Document[] {
  const page = {
    path,
    title: "GraphiQL",
    main: html`<h1>GraphiQL</h1>
<p class="lead">Queries and mutations over the same animals, with the same keys and limits. Every root field costs one request, and so does reading the schema.</p>
${keyForm}
<p id="answer-state" role="status">Enter a key to begin: the schema is shown to key holders.</p>
<div id="graphiql"></div>
<details id="answer-headers" hidden><summary>Headers of the last answer</summary><table class="headers"><tbody></tbody></table></details>`,
    styles: ["reference", "vendor-graphiql", "graphiql"],
    scripts: ["vendor-react", "vendor-react-dom", "vendor-graphiql"],
    module: "graphiql",
  };
  return [
    {
      path,
      mediaType: "text/html; charset=utf-8",
      content: framed(page, links),
      contentSecurityPolicy: policy,
    },
    ...guideDocuments(links),
    ...vendoredAssets(),
    ...pageAssets(),
  ];
}

/** Beyond the strict one: the editor writes styles into the page, and its fonts and icons come inside its style sheet. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
