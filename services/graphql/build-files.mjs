// Writes the pages and files of the service to dist/site: GraphiQL and the guides.
import { copyGraphiql, graphiqlPage, writeSite } from "@petstore/pages";

const site = new URL("dist/site/", import.meta.url);
await writeSite(site, { pages: [graphiqlPage], guides: "services/graphql/docs" });
await copyGraphiql(site);
