import type { ApolloServerPlugin } from "@apollo/server";
import { type Api, type ApiDeps, createAccountTurns, jsonMediaType } from "@petstore/http";
import { createApolloServer } from "./apollo-server.js";
import { refusalBody } from "./graphql-errors.js";
import { createGraphqlHandler, graphqlMediaType } from "./graphql-handler.js";
import { createDocumentStore } from "./operation/document-store.js";
import { createDocuments } from "./operation/documents.js";
import { buildPetSchema, type OperationContext } from "./schema/pet-resolver.js";
import { readGraphqlFiles } from "./static-files.js";

/**
 * The GraphQL API, its schema, and GraphiQL. The schema and GraphiQL need no key and cost nothing. `plugins` see every
 * operation whose document is valid.
 */
export function createGraphqlApi(
  { catalogue, accountTurns, log }: ApiDeps,
  plugins: readonly ApolloServerPlugin<OperationContext>[] = [],
): Api {
  const schema = buildPetSchema();
  const documentStore = createDocumentStore();
  const handle = createGraphqlHandler({
    schema,
    apollo: createApolloServer(schema, documentStore.apollo, plugins, log),
    catalogue,
    documents: createDocuments(schema),
    documentStore,
    accountTurns,
    pageTurns: createAccountTurns(),
  });
  return {
    resources: [
      {
        path: "/graphql",
        // The cost of an operation with several root fields is reserved when the document is read.
        charge: { api: "graphql" },
        GET: handle,
        POST: handle,
        mediaTypes: [jsonMediaType, graphqlMediaType],
        problemBody: refusalBody,
      },
    ],
    files: readGraphqlFiles(schema),
    redirects: { "/": "/graphiql" },
  };
}
