export { createGraphqlRouter, graphqlLinks } from "./graphql-router.js";
export type { OperationContext } from "./schema/pet-resolver.js";
