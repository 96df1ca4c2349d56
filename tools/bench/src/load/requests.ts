import type { PetStatus } from "@petstore/core";
import type { HttpRequest } from "@petstore/harness/network";

export interface ApiRequests {
  list(limit: number, status?: PetStatus): Operation;
  readonly create: Operation;
  /** With an idempotency key; without one in an API that has none. Another function than `create`. */
  readonly createOnce: Operation;
}

/** The text makes the name of a new pet, and its idempotency key, different from all others. */
export type Operation = (unique: string) => PetsRequest;

export interface PetsRequest extends HttpRequest {
  /** How many pets the response has. */
  readonly pets: number;
}

export const restRequests: ApiRequests = {
  list(limit, status) {
    const path = `/v1/pets?limit=${limit}${status === undefined ? "" : `&status=${status}`}`;
    return () => ({ method: "GET", path, pets: limit });
  },
  create: (unique) => create(unique, {}),
  createOnce: (unique) => create(unique, { "idempotency-key": unique }),
};

/** A server without keys gets none. */
export function withKey(request: PetsRequest, apiKey: string | undefined): PetsRequest {
  const authorization = apiKey !== undefined && { authorization: `Bearer ${apiKey}` };
  return { ...request, headers: { ...authorization, ...request.headers } };
}

export function newPet(unique: string) {
  return { name: `Pet ${unique}`, categoryId: 7, status: "available" };
}

function create(unique: string, idempotencyKey: Readonly<Record<string, string>>): PetsRequest {
  return {
    method: "POST",
    path: "/v1/pets",
    headers: { "content-type": "application/json", ...idempotencyKey },
    body: JSON.stringify(newPet(unique)),
    pets: 1,
  };
}
