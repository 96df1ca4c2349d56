import { type AnyVariables, Client, fetchExchange, type OperationResult } from "@urql/core";
import {
  type CreateData,
  createDocument,
  type ListData,
  listDocument,
  type OpenClient,
  type Outcome,
  type ReceivedPet,
} from "./graphql-client.js";

export const openUrql: OpenClient = (url, apiKey) => {
  const client = new Client({
    url,
    exchanges: [fetchExchange],
    preferGetMethod: false,
    fetchOptions: { headers: { authorization: `Bearer ${apiKey}` } },
  });
  return {
    name: "urql",
    list: async (limit) => outcomeOf(await client.query<ListData>(listDocument, { limit }), ({ pets }) => pets),
    create: async (input) =>
      outcomeOf(await client.mutation<CreateData>(createDocument, { input }), ({ createPet }) => [createPet]),
  };
};

function outcomeOf<Data>(
  { data, error }: OperationResult<Data, AnyVariables>,
  petsOf: (data: Data) => readonly ReceivedPet[],
): Outcome {
  if (error === undefined) return { kind: "data", pets: data ? petsOf(data) : [] };
  const [first] = error.graphQLErrors;
  if (first === undefined) throw error;
  const { code, status } = first.extensions;
  const response = error.response as Response | undefined;
  return { kind: "error", code, status, retryAfter: response?.headers.get("retry-after") ?? undefined };
}
