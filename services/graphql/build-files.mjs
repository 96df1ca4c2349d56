// Writes the pages and files of the service to dist/site: GraphiQL and the guides.
import { errorGuide } from "@petstore/core";
import { copyGraphiql, graphiqlPage, writeSite } from "@petstore/pages";

const site = new URL("dist/site/", import.meta.url);
const guides = {
  "services/graphql/docs": new URL("docs/", import.meta.url),
  "packages/core": new URL("./", errorGuide),
};
await writeSite(site, { pages: [graphiqlPage], guides });
await copyGraphiql(site);
