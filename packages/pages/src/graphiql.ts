/**
 * The GraphiQL page. All of its files come from this service, none from a CDN. It uses GraphiQL 4 with the CodeMirror
 * editor. GraphiQL 5 uses Monaco, which is five times as large and needs web workers.
 */
import type { StaticFile } from "@petstore/http";
import { keyForm } from "./frame.js";
import { html } from "./html.js";
import { pageFiles, readAssets } from "./page-files.js";

/** The page at `/graphiql`, the guides, and the styles and scripts of both. */
export function graphiqlFiles(folder: string, directory: URL): readonly StaticFile[] {
  const page = {
    path: "/graphiql",
    title: "GraphiQL",
    main: () => html`<h1>GraphiQL</h1>
<p class="lead">Queries and mutations for the same pets as the REST API, with the same keys and limits. Each root field costs one request. Loading the schema costs one request too.</p>
${keyForm}
<p id="answer-state" role="status">Enter an API key to load the schema.</p>
<div id="graphiql"></div>
<details id="answer-headers" hidden><summary>Headers of the last response</summary><table></table></details>`,
    styles: ["reference", "vendored/graphiql"],
    scripts: ["vendored/react", "vendored/react-dom", "vendored/graphiql"],
    module: "graphiql",
    contentSecurityPolicy: policy,
  };
  return [...pageFiles([page], folder, directory), ...readAssets("./vendored/", "/pages/vendored")];
}

/** Wider than the default policy: the editor adds inline styles, and its style sheet contains fonts and icons as data: URLs. */
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
