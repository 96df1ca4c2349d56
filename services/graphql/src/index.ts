export { createGraphqlRouter } from "./graphql-router.js";
export { graphqlLinks } from "./links.js";
