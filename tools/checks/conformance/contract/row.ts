/** The rows of the contract table: a request and its response, which must be the same through every interface. */
import type { Limits, ProblemCode } from "@petstore/core";
import type { Call, Failure, Operation, Pet } from "../apis/api.js";
import type { KeyKind } from "../running-store.js";

export interface Row {
  readonly title: string;
  readonly send: Request;
  readonly expected: Expected;
  /** The response of both variants of GraphQL, if it differs on purpose. */
  readonly graphql?: Expected;
  /** A valid key by default. */
  readonly key?: KeyKind | "none";
  /** The limits of the account that each interface gets for this row; by default no row uses them up. */
  readonly limits?: Limits;
  /** Earlier requests with the same key and any response. */
  readonly before?: readonly Request[];
  /** The requests go to a store in which GET /pets/{petId} has a brownout, and which has no pets. */
  readonly isInBrownout?: true;
}

export interface Request extends Partial<Omit<Call, "operation" | "authorization" | "address">> {
  operation(catalogue: Catalogue): Operation;
  /** By default the key of the row as a bearer token. */
  authorization?(key: string): readonly string[];
}

/** The pets that exist before the first row, in the order of their ids, with two cursors of REST. */
export interface Catalogue {
  readonly pets: readonly Pet[];
  /** It continues the whole list after the third pet. */
  readonly cursor: string;
  /** It continues the list of pending pets after the third one. */
  readonly pendingCursor: string;
}

type Expected = Problem | Success;

/** Comparable headers. The value of an absent header is empty. */
type Headers = Readonly<Record<string, string>>;

export interface Problem extends Failure {
  readonly code: ProblemCode | "GRAPHQL_VALIDATION_FAILED";
  readonly headers?: Headers;
}

export interface Success {
  readonly kind: "success";
  /** The pets of a list, or the pet that was found. */
  pets?(catalogue: Catalogue): readonly Pet[];
  readonly created?: Omit<Pet, "id">;
  readonly headers?: Headers;
}

/** One row for each input. An input has a title, or is its own title. */
export function rowsOf(promise: string, inputs: readonly string[], write: WriteRow<string>): Row[];
export function rowsOf<Input>(promise: string, inputs: Readonly<Record<string, Input>>, write: WriteRow<Input>): Row[];
export function rowsOf(promise: string, inputs: object, write: WriteRow<never>): Row[] {
  const titled = Array.isArray(inputs) ? inputs.map((input) => [input, input]) : Object.entries(inputs);
  return titled.map(([title, input]) => ({ title: `${promise}: ${title}`, ...write(input as never, title) }));
}

type WriteRow<Input> = (input: Input, title: string) => Omit<Row, "title">;

type Query = Readonly<Record<string, string>>;
type Options = Omit<Request, "operation">;

/** Values are JSON text: `{ limit: "1", status: '"sold"' }`. */
export function list(query: Query | ((catalogue: Catalogue) => Query) = {}, options: Options = {}): Request {
  const queryOf = typeof query === "function" ? query : () => query;
  return { operation: (catalogue) => ({ kind: "list", query: queryOf(catalogue) }), ...options };
}

/** `input` is the JSON text of a NewPet. */
export function create(input: string = rex, options: Options & { readonly idempotencyKey?: string } = {}): Request {
  const { idempotencyKey, ...others } = options;
  const operation: Operation = { kind: "create", input, ...(idempotencyKey !== undefined && { idempotencyKey }) };
  return { operation: () => operation, ...others };
}

export function get(id: string | ((catalogue: Catalogue) => string)): Request {
  const idOf = typeof id === "function" ? id : () => id;
  return { operation: (catalogue) => ({ kind: "get", id: idOf(catalogue) }) };
}

export const rex = '{"name":"Rex","categoryId":1}';

export const succeeds: Success = { kind: "success" };

export function created(pet: Partial<Omit<Pet, "id">>, headers?: Headers): Success {
  const whole = { name: "Rex", categoryId: "1", status: "available", ...pet };
  return { kind: "success", created: whole, ...(headers && { headers }) };
}

export function shows(pets: NonNullable<Success["pets"]>): Success {
  return { kind: "success", pets };
}

export function refused(status: number, code: Problem["code"], message: string, headers?: Headers): Problem {
  return { kind: "failure", status, code, message, ...(headers && { headers }) };
}

export function invalid(message: string): Problem {
  return refused(400, "VALIDATION_FAILED", message);
}
