export { createGraphqlApi } from "./graphql-api.js";
export type { OperationContext } from "./schema/pet-resolver.js";
