import type { PetStatus } from "@petstore/core";
import type { Contestant, WorkRequest } from "../benchmark.js";
import { petstoreGraphqlOnRedis, petstoreRestOnRedis } from "../contestants.js";
import * as graphql from "../graphql-work.js";
import * as rest from "../rest-work.js";

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
  contestant: petstoreRestOnRedis,
  list(range, apiKey) {
    const query = Object.entries(range).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
    const path = query.length === 0 ? "/v1/pets" : `/v1/pets?${query.join("&")}`;
    return { method: "GET", path, headers: rest.authorization(apiKey) };
  },
  create: rest.create.request,
  idsOf: (answer) => idsOf(answer),
};

const graphqlRouter: Api = {
  name: "graphql",
  contestant: petstoreGraphqlOnRedis,
  list({ limit = pageSize, status, cursor }, apiKey) {
    const query = `query ($limit: Int!, $status: PetStatus, $cursor: String) {
      pets(limit: $limit, status: $status, cursor: $cursor) { id name categoryId status }
    }`;
    return graphql.post({ query, variables: { limit, status, cursor } }, apiKey);
  },
  create: graphql.create.request,
  idsOf: (answer) => idsOf((answer as { readonly data: { readonly pets: unknown } }).data.pets),
};

export const apis: readonly Api[] = [restRouter, graphqlRouter];

function idsOf(pets: unknown): string[] {
  return (pets as readonly { readonly id: number | string }[]).map(({ id }) => `${id}`);
}
