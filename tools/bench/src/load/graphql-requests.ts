import { cursorAfter } from "../cursor.js";
import { type ApiRequests, newPet, type Operation, type PetsRequest } from "./requests.js";

const fields = "{ id name categoryId status }";

/** One document for each operation; its variables hold the values. */
export const graphqlRequests: ApiRequests = {
  list({ limit, status, after }) {
    const query = `query ($limit: Int!, $status: PetStatus, $cursor: String) {
  pets(limit: $limit, status: $status, cursor: $cursor) ${fields}
}`;
    return () => request(query, { limit, status, ...(after !== undefined && { cursor: cursorAfter(after) }) }, limit);
  },
  create: (unique) =>
    request(`mutation ($input: NewPet!) { createPet(input: $input) ${fields} }`, { input: newPet(unique) }),
  createOnce: (unique) =>
    request(`mutation ($input: NewPet!, $key: String) { createPet(input: $input, idempotencyKey: $key) ${fields} }`, {
      input: newPet(unique),
      key: unique,
    }),
};

/** The schema of the peers has no idempotency keys. */
export const bareGraphqlRequests: ApiRequests = {
  ...graphqlRequests,
  createOnce: (unique) => graphqlRequests.create(unique),
};

const postgraphileCreate: Operation = (unique) => {
  const { status, ...pet } = newPet(unique);
  const query = `mutation ($input: CreatePetInput!) { createPet(input: $input) { pet ${fields} } }`;
  return request(query, { input: { pet: { ...pet, status: status.toUpperCase() } } });
};

/** PostGraphile derives its schema from the tables, and writes the values of an enum in capitals. */
export const postgraphileRequests: ApiRequests = {
  list({ limit, status, after }) {
    const query = `query ($limit: Int!, $condition: PetCondition, $after: Cursor) {
  allPets(first: $limit, condition: $condition, after: $after) { nodes ${fields} }
}`;
    const condition = status && { status: status.toUpperCase() };
    // PostGraphile's own cursor: the name of the order, and the values of its columns.
    const cursor = after !== undefined && Buffer.from(JSON.stringify(["primary_key_asc", [after]])).toString("base64");
    return () => request(query, { limit, ...(condition && { condition }), ...(cursor && { after: cursor }) }, limit);
  },
  create: postgraphileCreate,
  createOnce: (unique) => postgraphileCreate(unique),
};

function request(query: string, variables: object, pets = 1): PetsRequest {
  return {
    method: "POST",
    path: "/graphql",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, variables }),
    pets,
  };
}
