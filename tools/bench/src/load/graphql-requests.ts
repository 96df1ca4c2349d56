import { type ApiRequests, listedPets, newPet, type Operation, withoutId } from "./requests.js";

interface Created<Payload> {
  readonly createPet: Payload;
}

interface PostgraphilePet {
  readonly status: string;
}

const fields = "{ id name categoryId status }";

/** One document for each operation; its variables hold the values. */
export const graphqlRequests: ApiRequests = {
  list: (limit, status) =>
    operation<{ readonly pets: unknown }>(
      `query ($limit: Int!, $status: PetStatus) { pets(limit: $limit, status: $status) ${fields} }`,
      () => ({ limit, status }),
      ({ pets }) => listedPets(pets, limit),
    ),
  create: operation<Created<unknown>>(
    `mutation ($input: NewPet!) { createPet(input: $input) ${fields} }`,
    (unique) => ({ input: newPet(unique) }),
    ({ createPet }) => withoutId(createPet),
  ),
  createOnce: operation<Created<unknown>>(
    `mutation ($input: NewPet!, $key: String) { createPet(input: $input, idempotencyKey: $key) ${fields} }`,
    (unique) => ({ input: newPet(unique), key: unique }),
    ({ createPet }) => withoutId(createPet),
  ),
};

/** The schema of the peers has no idempotency keys. */
export const bareGraphqlRequests: ApiRequests = { ...graphqlRequests, createOnce: { ...graphqlRequests.create } };

const postgraphileCreate = operation<Created<{ readonly pet: PostgraphilePet }>>(
  `mutation ($input: CreatePetInput!) { createPet(input: $input) { pet ${fields} } }`,
  (unique) => {
    const { status, ...pet } = newPet(unique);
    return { input: { pet: { ...pet, status: status.toUpperCase() } } };
  },
  ({ createPet }) => withoutId(lowerCaseStatus(createPet.pet)),
);

/** PostGraphile derives its schema from the tables, and writes the values of an enum in capitals. */
export const postgraphileRequests: ApiRequests = {
  list: (limit, status) =>
    operation<{ readonly allPets: { readonly nodes: readonly PostgraphilePet[] } }>(
      `query ($limit: Int!, $condition: PetCondition) {
  allPets(first: $limit, condition: $condition) { nodes ${fields} }
}`,
      () => ({ limit, ...(status && { condition: { status: status.toUpperCase() } }) }),
      ({ allPets }) => listedPets(allPets.nodes.map(lowerCaseStatus), limit),
    ),
  create: postgraphileCreate,
  createOnce: { ...postgraphileCreate },
};

function operation<Data>(
  query: string,
  variablesOf: (unique: string) => object,
  resultOf: (data: Data) => unknown,
): Operation {
  return {
    request: (unique) => ({
      method: "POST",
      path: "/graphql",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query, variables: variablesOf(unique) }),
    }),
    resultOf(body) {
      const { data } = body as { readonly data?: Data | null };
      if (!data) throw new Error(`the response has no data: ${JSON.stringify(body)}`);
      return resultOf(data);
    },
  };
}

function lowerCaseStatus(pet: PostgraphilePet): PostgraphilePet {
  return { ...pet, status: pet.status.toLowerCase() };
}
