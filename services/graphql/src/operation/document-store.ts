/** Hands parsed documents to Apollo Server. */
import type { ApolloServerOptions, BaseContext } from "@apollo/server";
import type { DocumentNode } from "graphql";
import type { ValidDocument } from "./document-parser.js";

type ApolloDocumentStore = NonNullable<ApolloServerOptions<BaseContext>["documentStore"]>;

/**
 * Apollo Server asks its document store for the document of each operation, by the SHA-256 of the text. It would parse and
 * validate a document that the store does not have, without our limits. Therefore the store holds every document for as long
 * as it is executed, whether `documents.ts` caches it or not.
 */
export interface DocumentStore {
  readonly apollo: ApolloDocumentStore;
  /** The store has the document until the promise of `execute` is settled. */
  holding<T>(document: ValidDocument, execute: () => Promise<T>): Promise<T>;
}

interface Held {
  readonly document: DocumentNode;
  /** How many operations with this document are executed now. */
  executions: number;
}

const digestLength = 64;

export function createDocumentStore(): DocumentStore {
  const held = new Map<string, Held>();
  const readOnly = async () => {
    throw new Error("documents.ts parses every document");
  };
  return {
    apollo: {
      // Before the digest, the key has a hash of the schema.
      get: async (key) => held.get(key.slice(-digestLength))?.document,
      set: readOnly,
      delete: readOnly,
    },
    async holding({ digest, document }, execute) {
      const entry = held.get(digest) ?? { document, executions: 0 };
      entry.executions += 1;
      held.set(digest, entry);
      try {
        return await execute();
      } finally {
        entry.executions -= 1;
        if (entry.executions === 0) held.delete(digest);
      }
    },
  };
}
