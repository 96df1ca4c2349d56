export { createGraphqlDoor } from "./graphql-door.js";
export { graphqlLinks } from "./links.js";
