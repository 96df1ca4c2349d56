// A page of one pet from each API, which most checks look at.
import { type Finding, fault, ok } from "../finding.js";
import { describeReceived, jsonIn } from "./exchange.js";
import type { ApiName, StoreClient, StoreResponse } from "./store-client.js";

/** The responses of both APIs, without compression. */
export interface ListedByBoth {
  readonly rest: StoreResponse;
  readonly graphql: StoreResponse;
  /** Whether the store has more than one pet, as GraphQL says it. `undefined` if its response is none of GraphQL. */
  readonly hasNextPage: boolean | undefined;
}

export const firstPage = "/v1/pets?limit=1";

export async function listByBoth(client: StoreClient): Promise<ListedByBoth> {
  const plain = { "Accept-Encoding": "identity" };
  const charge = "one unit";
  const rest = await client.send({ api: "REST", path: firstPage, headers: plain, charge });
  const query = "{ petsConnection(first: 1) { nodes { id } pageInfo { hasNextPage } } }";
  const body = JSON.stringify({ query });
  const graphql = await client.send({ api: "GraphQL", method: "POST", headers: plain, body, charge });
  return { rest, graphql, hasNextPage: hasNextPageIn(graphql.body) };
}

export function byApi({ rest, graphql }: ListedByBoth): readonly (readonly [api: ApiName, response: StoreResponse])[] {
  return [
    ["REST", rest],
    ["GraphQL", graphql],
  ];
}

interface ConnectionBody {
  readonly data?: { readonly petsConnection?: { readonly pageInfo?: { readonly hasNextPage?: boolean } } } | null;
}

function hasNextPageIn(text: string): boolean | undefined {
  const body = jsonIn(text) as ConnectionBody | null | undefined;
  return body?.data?.petsConnection?.pageInfo?.hasNextPage;
}

/** Whether each API answers at its address. */
export function checkReachable({ rest, graphql, hasNextPage }: ListedByBoth): Finding {
  const check = "apis";
  if (rest.status !== 200 || !Array.isArray(jsonIn(rest.body))) {
    const found = `${rest.request} got ${describeReceived(rest)}, and no list of pets`;
    return fault(check, found, "Let the balancer send /v1 to the REST API.", "the-balancer");
  }
  if (graphql.status === 200 && hasNextPage !== undefined) return ok(check, "both list pets");
  const found = `${graphql.request} got ${describeReceived(graphql)}, and no result of GraphQL`;
  const advice =
    graphql.code === "API_KEY_INVALID"
      ? "Give both APIs the same DATABASE_URL."
      : "Let the balancer send the paths of haproxy.cfg to the GraphQL API, or name its address in --graphql-url.";
  return fault(check, found, advice, "the-balancer");
}
