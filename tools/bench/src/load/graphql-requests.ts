import { type ApiRequests, type HttpRequest, listedPets, newPet, type Operation, withoutId } from "./requests.js";

const fields = "{ id name categoryId status }";
const listQuery = `query ($limit: Int!, $status: PetStatus) { pets(limit: $limit, status: $status) ${fields} }`;
const createQuery = `mutation ($input: NewPet!) { createPet(input: $input) ${fields} }`;
const createOnceQuery = `mutation ($input: NewPet!, $key: String) {
  createPet(input: $input, idempotencyKey: $key) ${fields}
}`;

/** One document for each operation; its variables hold the values. */
export const graphqlRequests: ApiRequests = {
  list: (limit, status) =>
    list({ query: listQuery, variables: { limit, status } }, (body) => listedPets(fieldOf(body, "pets"), limit)),
  create: {
    request: (unique) => post({ query: createQuery, variables: { input: newPet(unique) } }),
    resultOf: createdPet,
  },
  createOnce: {
    request: (unique) => post({ query: createOnceQuery, variables: { input: newPet(unique), key: unique } }),
    resultOf: createdPet,
  },
};

/** The schema of the peers has no idempotency keys. */
export const bareGraphqlRequests: ApiRequests = { ...graphqlRequests, createOnce: graphqlRequests.create };

const postgraphileList = `query ($limit: Int!, $condition: PetCondition) {
  allPets(first: $limit, condition: $condition) { nodes ${fields} }
}`;
const postgraphileCreateQuery = `mutation ($input: CreatePetInput!) { createPet(input: $input) { pet ${fields} } }`;

interface PostgraphilePet {
  readonly status: string;
}

const postgraphileCreate: Operation = {
  request(unique) {
    const { status, ...pet } = newPet(unique);
    const input = { pet: { ...pet, status: status.toUpperCase() } };
    return post({ query: postgraphileCreateQuery, variables: { input } });
  },
  resultOf: (body) => withoutId(lowerCaseStatus((fieldOf(body, "createPet") as { readonly pet: PostgraphilePet }).pet)),
};

/** PostGraphile derives its schema from the tables, and writes the values of an enum in capitals. */
export const postgraphileRequests: ApiRequests = {
  list(limit, status) {
    const variables = { limit, ...(status && { condition: { status: status.toUpperCase() } }) };
    return list({ query: postgraphileList, variables }, (body) => {
      const { nodes } = fieldOf(body, "allPets") as { readonly nodes: readonly PostgraphilePet[] };
      return listedPets(nodes.map(lowerCaseStatus), limit);
    });
  },
  create: postgraphileCreate,
  createOnce: postgraphileCreate,
};

function list(operation: object, resultOf: Operation["resultOf"]): Operation {
  const request = post(operation);
  return { request: () => request, resultOf };
}

function post(operation: object): HttpRequest {
  const headers = { "content-type": "application/json" };
  return { method: "POST", path: "/graphql", headers, body: JSON.stringify(operation) };
}

function createdPet(body: unknown): unknown {
  return withoutId(fieldOf(body, "createPet"));
}

function lowerCaseStatus(pet: PostgraphilePet): PostgraphilePet {
  return { ...pet, status: pet.status.toLowerCase() };
}

function fieldOf(body: unknown, name: string): unknown {
  const { data } = body as { readonly data?: Readonly<Record<string, unknown>> | null };
  if (data?.[name] === undefined) throw new Error(`the response has no ${name}`);
  return data[name];
}
