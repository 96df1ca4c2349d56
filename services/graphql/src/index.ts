export { createGraphqlRouter, type GraphqlRouterDeps, graphqlLinks } from "./graphql-router.js";
export type { OperationContext } from "./pet-resolver.js";
