import { listedPets, newPet, withoutId } from "./rest-words.js";
import type { Words, Work, WorkRequest } from "./words.js";

const fields = "{ id name categoryId status }";
const listQuery = `query ($limit: Int!, $status: PetStatus) { pets(limit: $limit, status: $status) ${fields} }`;
const createQuery = `mutation ($input: NewPet!) { createPet(input: $input) ${fields} }`;
const createOnceQuery = `mutation ($input: NewPet!, $key: String) {
  createPet(input: $input, idempotencyKey: $key) ${fields}
}`;

/** One document for each operation; the values are in its variables. */
export const graphql: Words = {
  listOf: (limit, status) => ({
    request: post({ query: listQuery, variables: { limit, status } }),
    resultOf: (answer) => listedPets(fieldOf(answer, "pets"), limit),
  }),
  create: createBy({ query: createQuery, variables: { input: newPet } }),
  createOnce: createBy({ query: createOnceQuery, variables: { input: newPet, key: "{unique}" } }),
};

/** The schema of the peers has no idempotency keys. */
export const bareGraphql: Words = { ...graphql, createOnce: graphql.create };

const postgraphileList = `query ($limit: Int!, $condition: PetCondition) {
  allPets(first: $limit, condition: $condition) { nodes ${fields} }
}`;
const postgraphileCreate: Work = {
  request: post({
    query: `mutation ($input: CreatePetInput!) { createPet(input: $input) { pet ${fields} } }`,
    variables: { input: { pet: { ...newPet, status: newPet.status.toUpperCase() } } },
  }),
  resultOf: (answer) =>
    withoutId(lowerCaseStatus((fieldOf(answer, "createPet") as { readonly pet: PostgraphilePet }).pet)),
};

interface PostgraphilePet {
  readonly status: string;
}

/** PostGraphile derives its schema from the tables, and spells the values of an enum in capitals. */
export const postgraphileWords: Words = {
  listOf: (limit, status) => ({
    request: post({
      query: postgraphileList,
      variables: { limit, ...(status && { condition: { status: status.toUpperCase() } }) },
    }),
    resultOf(answer) {
      const { nodes } = fieldOf(answer, "allPets") as { readonly nodes: readonly PostgraphilePet[] };
      return listedPets(nodes.map(lowerCaseStatus), limit);
    },
  }),
  create: postgraphileCreate,
  createOnce: postgraphileCreate,
};

export function post(operation: object): WorkRequest {
  const headers = { "content-type": "application/json" };
  return { method: "POST", path: "/graphql", headers, body: JSON.stringify(operation) };
}

function createBy(operation: object): Work {
  return { request: post(operation), resultOf: (answer) => withoutId(fieldOf(answer, "createPet")) };
}

function lowerCaseStatus(pet: PostgraphilePet): PostgraphilePet {
  return { ...pet, status: pet.status.toLowerCase() };
}

function fieldOf(answer: unknown, name: string): unknown {
  const { data } = answer as { readonly data?: Readonly<Record<string, unknown>> | null };
  if (data?.[name] === undefined) throw new Error(`the answer has no ${name}`);
  return data[name];
}
