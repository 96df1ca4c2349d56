import type { PetStatus } from "@petstore/core";

/** How one API says the requests of a workload. */
export interface Words {
  listOf(limit: number, status?: PetStatus): Work;
  readonly create: Work;
  /** An API without idempotency keys creates the pet without one. */
  readonly createOnce: Work;
}

/** One request, and how to check its response. */
export interface Work {
  readonly request: WorkRequest;
  /** The pets of a response parsed from JSON; they must be the same for every server. Throws for another response. */
  resultOf(answer: unknown): unknown;
}

/** A request without a key. `{unique}` in its headers and its body stands for a text that no other request has. */
export interface WorkRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function withKey(request: WorkRequest, apiKey: string): WorkRequest {
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${apiKey}` } };
}

/** Puts `unique` in its places. */
export function fillIn(request: WorkRequest, unique: string): WorkRequest {
  const { headers, body } = request;
  return {
    ...request,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value, unique)])),
    ...(body !== undefined && { body: fill(body, unique) }),
  };
}

function fill(text: string, unique: string): string {
  return text.replaceAll("{unique}", unique);
}
