import type { Work, WorkRequest } from "./benchmark.js";
import { authorization, newPet, withoutId } from "./rest-work.js";

/** Work for the servers that speak GraphQL: one document, with what varies in its variables. */
export function listOf(limit: number): Work {
  const query = `query ($limit: Int!, $status: PetStatus!) {
    pets(limit: $limit, status: $status) { id name categoryId status }
  }`;
  return {
    request: (apiKey) => post({ query, variables: { limit, status: "available" } }, apiKey),
    resultOf(answer) {
      const pets = fieldOf(answer, "pets");
      if (!Array.isArray(pets) || pets.length !== limit) throw new Error(`the answer is no list of ${limit}`);
      return pets;
    },
  };
}

export const create: Work = {
  request: (apiKey) => {
    const query = "mutation ($input: NewPet!) { createPet(input: $input) { id name categoryId status } }";
    return post({ query, variables: { input: newPet } }, apiKey);
  },
  resultOf: (answer) => withoutId(fieldOf(answer, "createPet")),
};

/** The list of 20 as PostGraphile's schema has it, which spells the enum's values in capitals. */
export const petsOfPostgraphile: Work = {
  request: (apiKey) => {
    const query = `query ($limit: Int!, $status: PetStatus!) {
      allPets(first: $limit, condition: { status: $status }) { nodes { id name categoryId status } }
    }`;
    return post({ query, variables: { limit: 20, status: "AVAILABLE" } }, apiKey);
  },
  resultOf(answer) {
    const { nodes } = fieldOf(answer, "allPets") as { readonly nodes: readonly { readonly status: string }[] };
    return nodes.map((pet) => ({ ...pet, status: pet.status.toLowerCase() }));
  },
};

export function post(operation: object, apiKey: string | undefined): WorkRequest {
  const headers = { "content-type": "application/json", ...authorization(apiKey) };
  return { method: "POST", path: "/graphql", headers, body: JSON.stringify(operation) };
}

function fieldOf(answer: unknown, name: string): unknown {
  const { data } = answer as { readonly data?: Readonly<Record<string, unknown>> | null };
  if (data?.[name] === undefined) throw new Error(`the answer has no ${name}`);
  return data[name];
}
