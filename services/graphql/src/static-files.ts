import { createStaticFile, readStaticFolder, type StaticFile } from "@petstore/http";
import { type GraphQLSchema, printSchema } from "graphql";

/** The schema as text, and GraphiQL and the guides, as `build-files.mjs` wrote them. */
export function readGraphqlFiles(schema: GraphQLSchema): readonly StaticFile[] {
  return [
    createStaticFile("/schema.graphql", `${printSchema(schema)}\n`),
    ...readStaticFolder(new URL("../dist/site/", import.meta.url), { "/graphiql": graphiqlPolicy }),
  ];
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
