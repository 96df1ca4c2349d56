import { type ApiRequests, type HttpRequest, listedPets, newPet, type Operation, withoutId } from "./requests.js";

const fields = "{ id name categoryId status }";
const listQuery = `query ($limit: Int!, $status: PetStatus) { pets(limit: $limit, status: $status) ${fields} }`;
const createQuery = `mutation ($input: NewPet!) { createPet(input: $input) ${fields} }`;
const createOnceQuery = `mutation ($input: NewPet!, $key: String) {
  createPet(input: $input, idempotencyKey: $key) ${fields}
}`;

/** One document for each operation; its variables hold the values. */
export const graphqlRequests: ApiRequests = {
  list: (limit, status) => ({
    request: post({ query: listQuery, variables: { limit, status } }),
    resultOf: (body) => listedPets(fieldOf(body, "pets"), limit),
  }),
  create: createBy({ query: createQuery, variables: { input: newPet } }),
  createOnce: createBy({ query: createOnceQuery, variables: { input: newPet, key: "{unique}" } }),
};

/** The schema of the peers has no idempotency keys. */
export const bareGraphqlRequests: ApiRequests = { ...graphqlRequests, createOnce: graphqlRequests.create };

const postgraphileList = `query ($limit: Int!, $condition: PetCondition) {
  allPets(first: $limit, condition: $condition) { nodes ${fields} }
}`;
const postgraphileCreate: Operation = {
  request: post({
    query: `mutation ($input: CreatePetInput!) { createPet(input: $input) { pet ${fields} } }`,
    variables: { input: { pet: { ...newPet, status: newPet.status.toUpperCase() } } },
  }),
  resultOf: (body) => withoutId(lowerCaseStatus((fieldOf(body, "createPet") as { readonly pet: PostgraphilePet }).pet)),
};

interface PostgraphilePet {
  readonly status: string;
}

/** PostGraphile derives its schema from the tables, and writes the values of an enum in capitals. */
export const postgraphileRequests: ApiRequests = {
  list: (limit, status) => ({
    request: post({
      query: postgraphileList,
      variables: { limit, ...(status && { condition: { status: status.toUpperCase() } }) },
    }),
    resultOf(body) {
      const { nodes } = fieldOf(body, "allPets") as { readonly nodes: readonly PostgraphilePet[] };
      return listedPets(nodes.map(lowerCaseStatus), limit);
    },
  }),
  create: postgraphileCreate,
  createOnce: postgraphileCreate,
};

export function post(operation: object): HttpRequest {
  const headers = { "content-type": "application/json" };
  return { method: "POST", path: "/graphql", headers, body: JSON.stringify(operation) };
}

function createBy(operation: object): Operation {
  return { request: post(operation), resultOf: (body) => withoutId(fieldOf(body, "createPet")) };
}

function lowerCaseStatus(pet: PostgraphilePet): PostgraphilePet {
  return { ...pet, status: pet.status.toLowerCase() };
}

function fieldOf(body: unknown, name: string): unknown {
  const { data } = body as { readonly data?: Readonly<Record<string, unknown>> | null };
  if (data?.[name] === undefined) throw new Error(`the response has no ${name}`);
  return data[name];
}
