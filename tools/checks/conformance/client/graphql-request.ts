import { ClientError, GraphQLClient } from "graphql-request";
import {
  type CreateData,
  createDocument,
  type ListData,
  listDocument,
  type OpenClient,
  type Outcome,
  type ReceivedPet,
} from "./graphql-client.js";

export const openGraphqlRequest: OpenClient = (url, apiKey) => {
  const client = new GraphQLClient(url, { headers: { authorization: `Bearer ${apiKey}` } });
  return {
    name: "graphql-request",
    list: (limit) => outcomeOf(async () => (await client.request<ListData>(listDocument, { limit })).pets),
    create: (input) => outcomeOf(async () => [(await client.request<CreateData>(createDocument, { input })).createPet]),
  };
};

async function outcomeOf(attempt: () => Promise<readonly ReceivedPet[]>): Promise<Outcome> {
  try {
    return { kind: "data", pets: await attempt() };
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const { errors, headers } = error.response;
    const { code, status } = errors?.[0]?.extensions ?? {};
    const retryAfter = headers instanceof Headers ? headers.get("retry-after") : undefined;
    return { kind: "error", code, status, retryAfter: retryAfter ?? undefined };
  }
}
