import { readStaticFolder, type StaticFile } from "@petstore/http";

/** GraphiQL, the schema and the guides, as `build-files.mjs` wrote them. */
export function readGraphqlFiles(): readonly StaticFile[] {
  return readStaticFolder(new URL("../dist/site/", import.meta.url), { "/graphiql": graphiqlPolicy });
}

/** Wider than the default policy: the editor adds inline styles, and its style sheet contains fonts and icons as data: URLs. */
const graphiqlPolicy = [
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
