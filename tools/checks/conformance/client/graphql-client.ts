/** A popular GraphQL client, created as its documentation shows. */
export interface GraphqlClient {
  readonly name: string;
  list(limit: number): Promise<Outcome>;
  create(input: { readonly name: string; readonly categoryId: string }): Promise<Outcome>;
}

/** The result that the client gives to an application. */
export type Outcome =
  | { readonly kind: "data"; readonly pets: readonly ReceivedPet[] }
  | {
      readonly kind: "error";
      readonly code: unknown;
      readonly status: unknown;
      readonly retryAfter: string | undefined;
    };

export interface ReceivedPet {
  readonly id: string;
  readonly name: string;
  readonly categoryId: string;
  readonly status: string;
}

export type OpenClient = (url: string, apiKey: string) => GraphqlClient;

export const listDocument = "query List($limit: Int!) { pets(limit: $limit) { id name categoryId status } }";
export const createDocument =
  "mutation Create($input: NewPet!) { createPet(input: $input) { id name categoryId status } }";

export interface ListData {
  readonly pets: readonly ReceivedPet[];
}

export interface CreateData {
  readonly createPet: ReceivedPet;
}
