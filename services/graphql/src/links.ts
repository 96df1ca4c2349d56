import { errorsGuide, type Links, readGuides } from "@petstore/pages";

/** What the GraphQL API has to read, with GraphiQL at `graphiqlPath`. */
export function graphqlLinks(graphiqlPath: string): Links {
  const guides = readGuides({
    directory: new URL("../docs/", import.meta.url),
    folder: "services/graphql/docs",
    path: "/docs/graphql",
    names: ["quickstart"],
  });
  return { pages: [{ path: graphiqlPath, title: "GraphiQL" }], guides: [...guides, errorsGuide()] };
}
