import { cp } from "node:fs/promises";
import { keyForm, type Page } from "./frame.js";
import { html } from "./html.js";

/**
 * GraphiQL, at `/graphiql`. All of its files come from the service, none from a CDN. It uses GraphiQL 4 with the CodeMirror
 * editor. GraphiQL 5 uses Monaco, which is five times as large and needs web workers.
 */
export const graphiqlPage: Page = {
  path: "/graphiql",
  title: "GraphiQL",
  main: html`<h1>GraphiQL</h1>
<p class="lead">Queries and mutations for the same pets as the REST API, with the same keys and limits. Each root field costs one request. Loading the schema costs one request too.</p>
${keyForm}
<p id="answer-state" role="status">Enter an API key to load the schema.</p>
<div id="graphiql"></div>
<details id="answer-headers" hidden><summary>Headers of the last response</summary><table></table></details>`,
  styles: ["reference", "vendored/graphiql"],
  scripts: ["vendored/react", "vendored/react-dom", "vendored/graphiql"],
  module: "graphiql",
};

/** Copies GraphiQL and React, with their compressed forms, to the site in this folder. */
export function copyGraphiql(folder: URL): Promise<void> {
  return cp(new URL("./vendored/", import.meta.url), new URL("pages/vendored/", folder), { recursive: true });
}
