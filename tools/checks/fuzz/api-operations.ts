/** One operation as a request to either API, and its outcome in the terms of both. */
import type { Answer } from "@petstore/harness/network";
import type { Headers } from "./arbitraries/headers.js";
import type { ListOperation } from "./arbitraries/operations.js";
import type { ShownPet } from "./pet-ledger.js";
import type { FuzzRequest } from "./session.js";

export type ApiRequest =
  | ListOperation
  /** `newPet` is JSON text. */
  | { readonly kind: "create"; readonly newPet: string; readonly idempotencyKey: string | undefined };

export type Outcome =
  | { readonly kind: "success"; readonly pets: readonly ShownPet[]; readonly nextCursor: string | undefined }
  | { readonly kind: "failure"; readonly code: string };

export function restRequest(request: ApiRequest, key: string): FuzzRequest {
  if (request.kind === "list") {
    const pairs = Object.entries(request.query).map(
      ([name, value]) => `${name}=${encodeURIComponent(unquoted(value))}`,
    );
    const path = pairs.length === 0 ? "/v1/pets" : `/v1/pets?${pairs.join("&")}`;
    return { api: "rest", method: "GET", path, headers: [["authorization", `Bearer ${key}`]] };
  }
  const { newPet, idempotencyKey } = request;
  const headers: Headers = idempotencyKey === undefined ? [] : [["idempotency-key", idempotencyKey]];
  return {
    api: "rest",
    method: "POST",
    path: "/v1/pets",
    headers: [...headersOf(key), ...headers],
    body: Buffer.from(newPet),
  };
}

/** Numbers in a response keep all digits, as strings: no quote inside a JSON string is without a backslash. */
export function readRest({ status, headers, text }: Answer): Outcome {
  const body = JSON.parse(text.replaceAll(/"(id|categoryId)":(-?\d+)/g, '"$1":"$2"'));
  if (status >= 400) return { kind: "failure", code: body.code };
  const nextCursor = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(headers.link ?? "")?.[1];
  return { kind: "success", pets: [body].flat(), nextCursor };
}

export function graphqlRequest(request: ApiRequest, key: string): FuzzRequest {
  const body = Buffer.from(request.kind === "list" ? listBody(request) : createBody(request));
  return { api: "graphql", method: "POST", path: "/graphql", headers: headersOf(key), body };
}

export function readGraphql({ text }: Answer): Outcome {
  const { data, errors } = JSON.parse(text);
  if (errors !== undefined) return { kind: "failure", code: errors[0].extensions.code };
  const { nodes, pageInfo } = data.petsConnection ?? { nodes: data.pets ?? [data.createPet], pageInfo: undefined };
  return { kind: "success", pets: nodes, nextCursor: pageInfo?.hasNextPage ? pageInfo.endCursor : undefined };
}

type Argument = readonly [name: string, type: string, value: string];

const petFields = "{ id name categoryId status }";
/** The names of the connection are those of Relay. */
const listArguments: Readonly<Record<string, { readonly type: string; readonly relay: string }>> = {
  limit: { type: "Int!", relay: "first" },
  status: { type: "PetStatus", relay: "status" },
  cursor: { type: "String", relay: "after" },
};

function listBody({ query, isConnection }: ListOperation): string {
  const values = Object.entries(query).map(([name, value]): Argument => {
    const { type = "", relay = "" } = listArguments[name] ?? {};
    return [isConnection ? relay : name, type, value];
  });
  return isConnection
    ? operationBody("query", "petsConnection", values, `{ nodes ${petFields} pageInfo { hasNextPage endCursor } }`)
    : operationBody("query", "pets", values, petFields);
}

function createBody({ newPet, idempotencyKey }: Extract<ApiRequest, { kind: "create" }>): string {
  const input: Argument = ["input", "NewPet!", newPet];
  const values: readonly Argument[] =
    idempotencyKey === undefined ? [input] : [input, ["idempotencyKey", "String", JSON.stringify(idempotencyKey)]];
  return operationBody("mutation", "createPet", values, petFields);
}

/** Values are variables, so that both APIs get the same digits. */
function operationBody(type: string, field: string, values: readonly Argument[], selection: string): string {
  const inParentheses = (parts: readonly string[]) => (parts.length === 0 ? "" : `(${parts.join(", ")})`);
  const declared = inParentheses(values.map(([name, of]) => `$${name}: ${of}`));
  const given = inParentheses(values.map(([name]) => `${name}: $${name}`));
  const variables = values.map(([name, , value]) => `${JSON.stringify(name)}:${value}`);
  const query = `${type} ${declared} { ${field}${given} ${selection} }`;
  return `{"query":${JSON.stringify(query)},"variables":{${variables.join(",")}}}`;
}

function headersOf(key: string): Headers {
  return [
    ["authorization", `Bearer ${key}`],
    ["content-type", "application/json"],
  ];
}

/** A query string has no types: a string has no quotes there. */
function unquoted(json: string): string {
  const value: unknown = JSON.parse(json);
  return typeof value === "string" ? value : json;
}
