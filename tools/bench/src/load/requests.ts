import type { PetStatus } from "@petstore/core";
import type { HttpRequest } from "@petstore/harness/network";

export interface ApiRequests {
  list(limit: number, status?: PetStatus): Operation;
  readonly create: Operation;
  /** With an idempotency key; without one in an API that has none. Another object than `create`. */
  readonly createOnce: Operation;
}

export interface Operation {
  /** The text makes the name of a new pet, and its idempotency key, different from all others. */
  request(unique: string): HttpRequest;
  /** The pets of a parsed response; they must be the same for every server. Throws for a wrong response. */
  resultOf(body: unknown): unknown;
}

export const restRequests: ApiRequests = {
  list(limit, status) {
    const path = `/v1/pets?limit=${limit}${status === undefined ? "" : `&status=${status}`}`;
    const request: HttpRequest = { method: "GET", path };
    return { request: () => request, resultOf: (body) => listedPets(body, limit) };
  },
  create: { request: (unique) => create(unique, {}), resultOf: withoutId },
  createOnce: { request: (unique) => create(unique, { "idempotency-key": unique }), resultOf: withoutId },
};

/** A server without keys gets none. */
export function withKey(request: HttpRequest, apiKey: string | undefined): HttpRequest {
  const authorization = apiKey !== undefined && { authorization: `Bearer ${apiKey}` };
  return { ...request, headers: { ...authorization, ...request.headers } };
}

export function newPet(unique: string) {
  return { name: `Pet ${unique}`, categoryId: 7, status: "available" };
}

export function listedPets(pets: unknown, limit: number): readonly unknown[] {
  if (!Array.isArray(pets) || pets.length !== limit) throw new Error(`the response is no list of ${limit} pets`);
  return pets;
}

/** Removes the id, which differs between servers. */
export function withoutId(pet: unknown): unknown {
  if (!(pet instanceof Object && "id" in pet)) throw new Error("the response is no pet");
  const { id: _, ...rest } = pet;
  return rest;
}

function create(unique: string, idempotencyKey: Readonly<Record<string, string>>): HttpRequest {
  return {
    method: "POST",
    path: "/v1/pets",
    headers: { "content-type": "application/json", ...idempotencyKey },
    body: JSON.stringify(newPet(unique)),
  };
}
