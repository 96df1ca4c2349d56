import type { Work } from "./benchmark.js";

/** Work for the servers that speak REST. */
export function listOf(limit: number): Work {
  const path = `/v1/pets?status=available${limit === 20 ? "" : `&limit=${limit}`}`;
  return {
    request: (apiKey) => ({ method: "GET", path, headers: authorization(apiKey) }),
    resultOf(answer) {
      if (!Array.isArray(answer) || answer.length !== limit) throw new Error(`the answer is no list of ${limit}`);
      return answer;
    },
  };
}

export const newPet = { name: "Rex", categoryId: 7, status: "available" };

export const create: Work = {
  request: (apiKey) => ({
    method: "POST",
    path: "/v1/pets",
    headers: { "content-type": "application/json", ...authorization(apiKey) },
    body: JSON.stringify(newPet),
  }),
  resultOf: withoutId,
};

/** Every server makes a pet of its own. */
export function withoutId(answer: unknown): unknown {
  if (!(answer instanceof Object && "id" in answer)) throw new Error("the answer is no pet");
  const { id: _, ...rest } = answer;
  return rest;
}

export function authorization(apiKey: string | undefined): Record<string, string> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}
