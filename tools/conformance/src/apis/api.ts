/**
 * An API as a client sees it: it is asked for a list or a new pet, in its own protocol, and its answer is put into
 * the words of the contract, so that answers of different APIs can be laid side by side.
 */

/** What is asked for. Values are JSON text, so that each API is sent the very digits and types. */
export type Operation =
  | { readonly kind: "list"; readonly query: Readonly<Record<string, string>> }
  | { readonly kind: "create"; readonly input: string; readonly idempotencyKey?: string };

export interface Call {
  readonly operation: Operation;
  /** Authorization headers, one for each entry. */
  readonly authorization: readonly string[];
  /** The client's address, as a trusted proxy tells it. */
  readonly address: string;
  /** In place of, or beside, what the API would send. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  /** In place of what the API would write for the operation. */
  readonly body?: string | Buffer;
}

export interface Pet {
  /** Decimal digits, as `categoryId`. */
  readonly id: string;
  readonly name: string;
  readonly categoryId: string;
  readonly status: string;
}

export interface Answer {
  readonly outcome: Success | Failure;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly receivedAtMs: number;
}

export interface Success {
  readonly kind: "success";
  readonly pets: readonly Pet[];
  /** `null` on the last page, absent where this API does not tell. */
  readonly nextCursor?: string | null;
}

/** The contract's Error shape. */
interface Failure {
  readonly kind: "failure";
  readonly code: string;
  readonly message: string;
  readonly status: number;
}

export type ApiName = "rest" | "graphql" | "graphql connection" | "client";

export interface Api {
  readonly name: ApiName;
  /** `undefined` where this API has no way to ask it. Rejects when an answer breaks the API's own protocol. */
  send(call: Call): Promise<Answer | undefined>;
}
