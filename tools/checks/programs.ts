// Programs and files of other packages, as these packages export them.

export const restMain: URL = new URL(import.meta.resolve("@petstore/rest/main"));
export const graphqlMain: URL = new URL(import.meta.resolve("@petstore/graphql/main"));
/** The program of `npm start`. */
export const standaloneMain: URL = new URL(import.meta.resolve("@petstore/standalone/main"));

export const openApiFile: URL = new URL(import.meta.resolve("@petstore/rest/openapi.yaml"));
/** The build of the service makes it of the other one. */
export const openApi30File: URL = new URL(import.meta.resolve("@petstore/rest/openapi-3.0.json"));
export const schemaFile: URL = new URL(import.meta.resolve("@petstore/graphql/schema.graphql"));
export const restQuickstart: URL = new URL(import.meta.resolve("@petstore/rest/docs/quickstart.md"));
export const graphqlQuickstart: URL = new URL(import.meta.resolve("@petstore/graphql/docs/quickstart.md"));
export const operationsGuide: URL = new URL(import.meta.resolve("@petstore/deploy/operations.md"));
/** The configuration of the balancer. */
export const haproxyFile: URL = new URL(import.meta.resolve("@petstore/deploy/haproxy.cfg"));
