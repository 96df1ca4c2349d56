import { ApolloClient, ApolloLink, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { tap } from "rxjs";
import {
  type CreateData,
  createDocument,
  type ListData,
  listDocument,
  type OpenClient,
  type Outcome,
  type ReceivedPet,
} from "./graphql-client.js";

export const openApolloClient: OpenClient = (url, apiKey) => {
  let retryAfter: string | undefined;
  // The documented way to read headers: a link finds the response in the context of its operation.
  const readHeaders = new ApolloLink((operation, forward) =>
    forward(operation).pipe(
      tap({
        next: () => {
          const { response } = operation.getContext() as { readonly response?: Response };
          retryAfter = response?.headers.get("retry-after") ?? undefined;
        },
      }),
    ),
  );
  const client = new ApolloClient({
    link: ApolloLink.from([readHeaders, new HttpLink({ uri: url, headers: { authorization: `Bearer ${apiKey}` } })]),
    cache: new InMemoryCache(),
  });

  async function outcomeOf(attempt: () => Promise<readonly ReceivedPet[]>): Promise<Outcome> {
    try {
      return { kind: "data", pets: await attempt() };
    } catch (error) {
      if (!CombinedGraphQLErrors.is(error)) throw error;
      const { code, status } = error.errors[0]?.extensions ?? {};
      return { kind: "error", code, status, retryAfter };
    }
  }

  return {
    name: "Apollo Client",
    list: (limit) =>
      outcomeOf(async () => {
        const query = { query: gql(listDocument), variables: { limit }, fetchPolicy: "no-cache" } as const;
        return (await client.query<ListData>(query)).data?.pets ?? [];
      }),
    create: (input) =>
      outcomeOf(async () => {
        const { data } = await client.mutate<CreateData>({ mutation: gql(createDocument), variables: { input } });
        return data ? [data.createPet] : [];
      }),
  };
};
