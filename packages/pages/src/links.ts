export interface Link {
  readonly path: string;
  readonly title: string;
}

export interface DescribedLink extends Link {
  /** One sentence. */
  readonly about: string;
}

/** A link to a guide. `file` is its Markdown file, relative to the root of the repository. */
export interface GuideLink extends DescribedLink {
  readonly file: string;
}

/**
 * Every page links to these pages in its header, and to the guides and files in its footer. The paths are the same in every
 * deployment, because the balancers in tools/deploy send each path to the service that has it.
 */
export const pageLinks: readonly Link[] = [
  { path: "/", title: "Reference" },
  { path: "/docs", title: "Guides" },
  { path: "/usage", title: "Usage" },
  { path: "/graphiql", title: "GraphiQL" },
];

export const guideLinks: readonly GuideLink[] = [
  {
    path: "/docs/quickstart",
    title: "Quickstart: REST",
    about:
      "Add and list pets with curl, with our client, and with clients that are generated from the OpenAPI document.",
    file: "services/rest/docs/quickstart.md",
  },
  {
    path: "/docs/graphql/quickstart",
    title: "Quickstart: GraphQL",
    about: "Add and list pets with curl, fetch, Python, Apollo Client and urql.",
    file: "services/graphql/docs/quickstart.md",
  },
  {
    path: "/docs/limits",
    title: "Rate limits",
    about: "How many requests an account may send, what the headers say, and how a program stays within the limits.",
    file: "services/rest/docs/limits.md",
  },
  {
    path: "/docs/rehearsal",
    title: "See a 429, a ban and the 410 before your users do",
    about: "Commands for a test store that show what your program will meet.",
    file: "services/rest/docs/rehearsal.md",
  },
  {
    path: "/docs/get-pet-removal",
    title: "Removal of GET /pets/{petId} on 5 December 2030",
    about: "What replaces the deprecated operation.",
    file: "services/rest/docs/get-pet-removal.md",
  },
  {
    path: "/docs/errors",
    title: "Error codes",
    about: "Every code of both APIs, with its HTTP status and what to do about it.",
    file: "packages/core/errors.md",
  },
];

/** The files for programs. */
export const fileLinks: readonly DescribedLink[] = [
  { path: "/openapi.json", title: "OpenAPI 3.1, JSON", about: "The description of the REST API." },
  { path: "/openapi.yaml", title: "OpenAPI 3.1, YAML", about: "The same description, as it is written." },
  {
    path: "/openapi-3.0.json",
    title: "OpenAPI 3.0, JSON",
    about: "The same description for generators that cannot read OpenAPI 3.1.",
  },
  { path: "/schema.graphql", title: "GraphQL schema", about: "The schema of the GraphQL API." },
  {
    path: "/petstore-client.tgz",
    title: "TypeScript client",
    about: "An npm package for Node.js and browsers. It keeps every digit and stays within the limits.",
  },
  { path: "/llms.txt", title: "llms.txt", about: "The guides and files as a list for language models." },
  {
    path: "/.well-known/api-catalog",
    title: "API catalog",
    about: "Both APIs with their descriptions, as links for programs (RFC 9727).",
  },
];
