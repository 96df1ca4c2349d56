import type { PetStatus } from "@petstore/core";

/** The requests of a workload in one API. */
export interface ApiRequests {
  list(limit: number, status?: PetStatus): Operation;
  readonly create: Operation;
  /** With an idempotency key; without one in an API that has none. */
  readonly createOnce: Operation;
}

/** One kind of request, and its expected response. */
export interface Operation {
  readonly request: HttpRequest;
  /** The expected statuses. Default: every 2xx. */
  readonly statuses?: readonly number[];
  /** The pets of a parsed response; they must be the same for every server. Throws for a wrong response. */
  readonly resultOf?: (body: unknown) => unknown;
}

/** In the headers and the body, `{unique}` stands for a new text in every request, and `{newKey}` for an unknown API key. */
export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export const newPet = { name: "Pet {unique}", categoryId: 7, status: "available" };

/** A request that has a key already keeps it. */
export function withKey(request: HttpRequest, apiKey: string): HttpRequest {
  return { ...request, headers: { authorization: `Bearer ${apiKey}`, ...request.headers } };
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
