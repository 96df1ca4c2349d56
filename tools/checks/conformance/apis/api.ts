/**
 * An interface of the pet store as a client sees it. It sends an operation in its own protocol and returns the response
 * in the terms of the contract, so that the responses of several interfaces can be compared.
 */
import type { Pet as CorePet } from "@petstore/core";
import type { Answer, RequestOptions } from "@petstore/harness/network";

/** Values are JSON text, so that every interface sends the same digits and types. */
export type Operation =
  | { readonly kind: "list"; readonly query: Readonly<Record<string, string>> }
  | { readonly kind: "create"; readonly input: string; readonly idempotencyKey?: string }
  | { readonly kind: "get"; readonly id: string };

export interface Call {
  readonly operation: Operation;
  /** Authorization headers, one for each entry. */
  readonly authorization: readonly string[];
  /** The client address, which a trusted proxy reports. */
  readonly address: string;
  /** Additional headers; they replace those of the interface. Names in lower case. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly method?: string;
  /** Replaces the body that the interface would send. */
  readonly body?: string | Buffer;
  /** Blanks fill the body up to this size. */
  readonly bodyBytes?: number;
}

/** With its identifiers in decimal digits. */
export type Pet = {
  readonly [Field in keyof CorePet]: CorePet[Field] extends bigint | string ? string : CorePet[Field];
};

export interface Success {
  readonly kind: "success";
  readonly pets: readonly Pet[];
  /** `null` on the last page. Absent if the interface does not report it. */
  readonly nextCursor?: string | null;
}

/** The Error shape of the contract. */
export interface Failure {
  readonly kind: "failure";
  readonly code: string;
  readonly message: string;
  readonly status: number;
}

export type Outcome = Success | Failure;

export interface Reply {
  readonly outcome: Outcome;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Api {
  readonly name: "REST" | "GraphQL" | "GraphQL connection" | "client";
  /** `undefined` if this interface cannot express the call. Rejects if the response breaks its protocol. */
  send(call: Call): Promise<Reply | undefined>;
}

export type Send = (method: string, path: string, options: RequestOptions) => Promise<Answer>;

/** The headers and the body of the call replace those of the interface. */
export function requestOptions(
  { authorization, address, headers, body, bodyBytes = 0 }: Call,
  own: RequestOptions,
): RequestOptions {
  const written = body ?? own.body;
  return {
    headers: { ...own.headers, "x-forwarded-for": address, authorization, ...headers },
    ...(written !== undefined && { body: typeof written === "string" ? written.padEnd(bodyBytes) : written }),
  };
}
