import { randomBytes } from "node:crypto";
import { mintApiKey } from "@petstore/core";
import type { HttpRequest } from "@petstore/harness/network";
import { graphqlMain, restMain } from "../../programs.js";

/** An API of the store, as its clients know it. */
export interface Api {
  readonly name: string;
  /** The program that serves it. */
  readonly main: URL;
  /** The prefix of its paths. */
  readonly path: string;
  readonly list: HttpRequest;
  /** Another page for each limit. Equal reads at one moment can be one query. */
  listOf(limit: number): HttpRequest;
  create(name: string, idempotencyKey: string): HttpRequest;
  /** True for an answer that acknowledges a create. */
  isCreated(status: number, text: string): boolean;
}

const json = { "content-type": "application/json" };

export const rest: Api = {
  name: "rest",
  main: restMain,
  path: "/v1",
  list: { method: "GET", path: "/v1/pets?limit=2" },
  listOf: (limit) => ({ method: "GET", path: `/v1/pets?limit=${limit}` }),
  create: (name, idempotencyKey) => ({
    method: "POST",
    path: "/v1/pets",
    headers: { ...json, "idempotency-key": idempotencyKey },
    body: JSON.stringify({ name, categoryId: 1 }),
  }),
  isCreated: (status) => status === 201,
};

const createMutation = `mutation Create($name: String!, $key: String) {
  createPet(input: { name: $name, categoryId: "1" }, idempotencyKey: $key) { id }
}`;

export const graphql: Api = {
  name: "graphql",
  main: graphqlMain,
  path: "/graphql",
  list: graphqlCall(JSON.stringify({ query: "{ pets(limit: 2) { id name } }" })),
  listOf: (limit) => graphqlCall(JSON.stringify({ query: `{ pets(limit: ${limit}) { id name } }` })),
  create: (name, key) => graphqlCall(JSON.stringify({ query: createMutation, variables: { name, key } })),
  isCreated: (status, text) => status === 200 && text.includes('"createPet":{'),
};

export function graphqlCall(body: string): HttpRequest {
  return { method: "POST", path: "/graphql", headers: json, body };
}

export const apis: readonly Api[] = [rest, graphql];
/** One process of each API. */
export const oneOfEach: readonly { readonly api: Api }[] = apis.map((api) => ({ api }));
export const twoOfEach: readonly { readonly api: Api }[] = [...oneOfEach, ...oneOfEach];

export const host = "Host: pets.example\r\n";

export function startOfCreate(api: Api, lines: string): string {
  return `POST ${api.create("", "").path} HTTP/1.1\r\n${host}${lines}\r\n`;
}

/** A well-formed key that no account has. */
export function mintUnknownKey(): string {
  return mintApiKey("live", randomBytes);
}

export function authorization(apiKey: string): string {
  return `Authorization: Bearer ${apiKey}\r\n`;
}
