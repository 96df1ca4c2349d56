export { createGraphqlRouter } from "./graphql-router.js";
export type { OperationContext } from "./schema/pet-resolver.js";
