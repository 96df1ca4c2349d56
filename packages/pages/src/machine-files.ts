/** The files by which programs find the APIs and their guides. Their links are paths, because no file contains a setting. */
import { fileLinks, guideLinks } from "./links.js";

/** By name. `.linkset` is not part of the path: see `readStaticFolder` in packages/http. */
export const machineFiles: Readonly<Record<string, string>> = {
  "llms.txt": llmsTxt(),
  "robots.txt": robotsTxt(),
  ".well-known/api-catalog.linkset": apiCatalog(),
};

/** The form of llmstxt.org: a title, a summary in a quotation, what else to know, and lists of links to Markdown. */
function llmsTxt(): string {
  const guides = guideLinks.map(({ path, title, about }) => `- [${title}](${path}.md): ${about}`);
  const files = fileLinks
    .filter(({ path }) => path !== "/llms.txt")
    .map(({ path, title, about }) => `- [${title}](${path}): ${about}`);
  return `# Pet store

> One catalogue of pets behind a REST API at /v1 and a GraphQL API at /graphql. List pets, add a pet, or get a pet.

Both APIs need an API key: \`Authorization: Bearer pets_live_...\`. Identifiers are 64-bit integers. REST sends them as JSON
numbers, so use a parser that does not round integers above 2^53; GraphQL sends them as strings of digits. After a 429 response,
wait for the seconds of \`Retry-After\`. Make decisions by the \`code\` of an error. Send an \`Idempotency-Key\` with each create, so
that it is safe to repeat.

## Guides

${guides.join("\n")}

## Descriptions and clients

${files.join("\n")}
`;
}

function robotsTxt(): string {
  return `# The APIs need a key and answer a crawler with 401 alone. Everything else may be read and indexed.
User-agent: *
Disallow: /v1/
Disallow: /graphql
Disallow: /rate_limit
Disallow: /usage/history
`;
}

/** A linkset of RFC 9264 in the form of RFC 9727, with the relations of RFC 8631. */
function apiCatalog(): string {
  const linkset = [
    {
      anchor: "/.well-known/api-catalog",
      item: [{ href: "/v1" }, { href: "/graphql" }],
    },
    {
      anchor: "/v1",
      "service-desc": [
        { href: "/openapi.json", type: "application/json", title: "OpenAPI 3.1" },
        { href: "/openapi.yaml", type: "application/yaml", title: "OpenAPI 3.1" },
        { href: "/openapi-3.0.json", type: "application/json", title: "OpenAPI 3.0" },
      ],
      "service-doc": [
        { href: "/", type: "text/html", title: "Reference" },
        { href: "/docs/quickstart.md", type: "text/markdown", title: "Quickstart: REST" },
      ],
    },
    {
      anchor: "/graphql",
      "service-desc": [{ href: "/schema.graphql", type: "text/plain", title: "GraphQL schema" }],
      "service-doc": [
        { href: "/graphiql", type: "text/html", title: "GraphiQL" },
        { href: "/docs/graphql/quickstart.md", type: "text/markdown", title: "Quickstart: GraphQL" },
      ],
    },
  ];
  return `${JSON.stringify({ linkset }, undefined, 2)}\n`;
}
