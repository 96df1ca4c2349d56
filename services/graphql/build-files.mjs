// Writes the pages and files of the service to dist/site: GraphiQL, the guides, and the schema.
import { copyGraphiql, graphiqlPage, writeSite } from "@petstore/pages";
import { printSchema } from "graphql";
import { buildPetSchema } from "./dist/schema/pet-resolver.js";

const site = new URL("dist/site/", import.meta.url);
await writeSite(site, {
  pages: [graphiqlPage],
  guides: "services/graphql/docs",
  files: { "schema.graphql": `${printSchema(buildPetSchema())}\n` },
});
await copyGraphiql(site);
