import type { PetStatus } from "@petstore/core";
import type { Contestant } from "../benchmark.js";
import { graphql, post } from "../graphql-words.js";
import type { LoadWork } from "../load-generator.js";
import { petstoreGraphql, petstoreRest } from "../peers.js";
import { rest } from "../rest-words.js";
import { type WorkRequest, withKey } from "../words.js";

/** One of the two APIs, and how a request is said there. */
export interface Api {
  readonly name: "rest" | "graphql";
  readonly contestant: Contestant;
  list(range: ListRange, apiKey: string): WorkRequest;
  create(apiKey: string): WorkRequest;
  /** The identifiers of an answered list, as text. */
  idsOf(answer: unknown): string[];
}

/** So many pets of this status, behind this cursor; 20 where nothing is said. */
export interface ListRange {
  readonly limit?: number | undefined;
  readonly status?: PetStatus | undefined;
  readonly cursor?: string | undefined;
}

export const pageSize = 20;

const restRouter: Api = {
  name: "rest",
  contestant: petstoreRest,
  list(range, apiKey) {
    const query = Object.entries(range).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
    const path = query.length === 0 ? "/v1/pets" : `/v1/pets?${query.join("&")}`;
    return withKey({ method: "GET", path, headers: {} }, apiKey);
  },
  create: (apiKey) => withKey(rest.create.request, apiKey),
  idsOf: (answer) => idsOf(answer),
};

const graphqlRouter: Api = {
  name: "graphql",
  contestant: petstoreGraphql,
  list({ limit = pageSize, status, cursor }, apiKey) {
    const query = `query ($limit: Int!, $status: PetStatus, $cursor: String) {
      pets(limit: $limit, status: $status, cursor: $cursor) { id name categoryId status }
    }`;
    return withKey(post({ query, variables: { limit, status, cursor } }), apiKey);
  },
  create: (apiKey) => withKey(graphql.create.request, apiKey),
  idsOf: (answer) => idsOf((answer as { readonly data: { readonly pets: unknown } }).data.pets),
};

/** In the mean a page of 20. */
export const listLengths: readonly number[] = Array.from({ length: 31 }, (_, index) => 5 + index);

/** Lists of different lengths from one place: requests for the same list at once could share a query. */
export function listsOf(api: Api, range: ListRange, apiKey: string): LoadWork {
  return drawnFrom(listLengths.map((limit) => api.list({ ...range, limit }, apiKey)));
}

/** A load of these requests, which have their keys already. */
export function drawnFrom(requests: readonly WorkRequest[]): LoadWork {
  return { parts: [{ share: 1, requests }], apiKeys: [] };
}

export const apis: readonly Api[] = [restRouter, graphqlRouter];

function idsOf(pets: unknown): string[] {
  return (pets as readonly { readonly id: number | string }[]).map(({ id }) => `${id}`);
}
