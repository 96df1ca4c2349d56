import type { PetStatus } from "@petstore/core";
import type { HttpRequest } from "@petstore/harness/network";
import { cursorAfter } from "../cursor.js";

export interface ApiRequests {
  list(page: PageRequest): Operation;
  readonly create: Operation;
  /** With an idempotency key; without one in an API that has none. Another function than `create`. */
  readonly createOnce: Operation;
}

export interface PageRequest {
  readonly limit: number;
  readonly status?: PetStatus | undefined;
  /** The id of the pet before the page. Not together with `status`. Without it, the page is the first one. */
  readonly after?: number;
}

/** The text makes the name of a new pet, and its idempotency key, different from all others. */
export type Operation = (unique: string) => PetsRequest;

export interface PetsRequest extends HttpRequest {
  /** How many pets the response has. */
  readonly pets: number;
}

export const restRequests: ApiRequests = {
  list({ limit, status, after }) {
    const filter = status === undefined ? "" : `&status=${status}`;
    const cursor = after === undefined ? "" : `&cursor=${cursorAfter(after)}`;
    const path = `/v1/pets?limit=${limit}${filter}${cursor}`;
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
