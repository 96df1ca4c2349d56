import type { Words, Work, WorkRequest } from "./words.js";

export const newPet = { name: "Pet {unique}", categoryId: 7, status: "available" };

export const rest: Words = {
  listOf: (limit, status) => ({
    request: { method: "GET", path: `/v1/pets?limit=${limit}${status ? `&status=${status}` : ""}`, headers: {} },
    resultOf: (answer) => listedPets(answer, limit),
  }),
  create: createWith({}),
  createOnce: createWith({ "idempotency-key": "{unique}" }),
};

function createWith(headers: WorkRequest["headers"]): Work {
  return {
    request: {
      method: "POST",
      path: "/v1/pets",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(newPet),
    },
    resultOf: withoutId,
  };
}

export function listedPets(pets: unknown, limit: number): readonly unknown[] {
  if (!Array.isArray(pets) || pets.length !== limit) throw new Error(`the answer is no list of ${limit}`);
  return pets;
}

/** Every server creates a pet of its own. */
export function withoutId(answer: unknown): unknown {
  if (!(answer instanceof Object && "id" in answer)) throw new Error("the answer is no pet");
  const { id: _, ...rest } = answer;
  return rest;
}
