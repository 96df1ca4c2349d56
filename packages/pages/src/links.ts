export interface Link {
  readonly path: string;
  readonly title: string;
}

/** A link to a guide. `file` is its Markdown file, relative to the root of the repository. */
export interface GuideLink extends Link {
  readonly file: string;
}

/**
 * Every page links to these pages in its header, and to the guides in its footer. The paths are the same in every deployment,
 * because the balancers in tools/deploy send each path to the service that has it.
 */
export const pageLinks: readonly Link[] = [
  { path: "/", title: "Reference" },
  { path: "/usage", title: "Usage" },
  { path: "/graphiql", title: "GraphiQL" },
  { path: "/schema.graphql", title: "GraphQL schema" },
  { path: "/openapi.json", title: "OpenAPI JSON" },
  { path: "/openapi.yaml", title: "OpenAPI YAML" },
];

export const guideLinks: readonly GuideLink[] = [
  { path: "/docs/quickstart", title: "Quickstart: REST", file: "services/rest/docs/quickstart.md" },
  { path: "/docs/graphql/quickstart", title: "Quickstart: GraphQL", file: "services/graphql/docs/quickstart.md" },
  { path: "/docs/limits", title: "Rate limits", file: "services/rest/docs/limits.md" },
  {
    path: "/docs/rehearsal",
    title: "See a 429, a ban and the 410 before your users do",
    file: "services/rest/docs/rehearsal.md",
  },
  {
    path: "/docs/get-pet-removal",
    title: "Removal of GET /pets/{petId} on 5 December 2030",
    file: "services/rest/docs/get-pet-removal.md",
  },
  { path: "/docs/errors", title: "Error codes", file: "packages/core/errors.md" },
];
