// Whether a client can choose the address by which the service counts its requests without a key.
import { type Finding, fault, ok, skipped } from "../finding.js";
import type { ApiName, StoreClient } from "./store-client.js";

/**
 * Each instance counts for itself. So the first request that an instance gets from an address looks like one of a new address. The
 * requests without a forged address show whether a few requests meet an instance again. If they do, and none of twice as many with
 * forged addresses does, the service believes these addresses.
 */
const ownRequests = 12;
const forgedRequests = 24;

export async function checkAddress(client: StoreClient): Promise<Finding> {
  const check = "client address";
  const forged: ApiName[] = [];
  for (const api of ["REST", "GraphQL"] as const) {
    const isOwnNew = await isEachTheFirst(client, api, ownRequests, () => ({}));
    if (isOwnNew === undefined) {
      return skipped(check, `${api} shows no X-RateLimit headers without a key, so its counts cannot be compared`);
    }
    if (isOwnNew) {
      return skipped(
        check,
        `each of ${ownRequests} requests to ${api} met another instance, and each counts for itself`,
      );
    }
    if (await isEachTheFirst(client, api, forgedRequests, () => forgedAddress(client))) forged.push(api);
  }
  if (forged.length === 0) return ok(check, "X-Forwarded-For of a client does not change it");
  const found = `a client of ${forged.join(" and ")} chooses the address that counts it, by its own X-Forwarded-For`;
  const advice =
    "Let the first proxy overwrite X-Forwarded-For, or append the address of its peer, and let TRUST_PROXY cover only your proxies.";
  return fault(check, found, advice, "the-balancer");
}

/** Of the network for documentation (RFC 3849). The service counts a /64, and nobody else has drawn this one. */
function forgedAddress(client: StoreClient): Readonly<Record<string, string>> {
  return { "X-Forwarded-For": `2001:db8:${client.random(2)}:${client.random(2)}::1` };
}

/** Whether each of the requests is the first one of its address, for the instance that it meets. `undefined` without counts. */
async function isEachTheFirst(
  client: StoreClient,
  api: ApiName,
  requests: number,
  makeHeaders: () => Readonly<Record<string, string>>,
): Promise<boolean | undefined> {
  for (let sent = 0; sent < requests; sent += 1) {
    const path = api === "REST" ? { path: "/v1/pets" } : {};
    const { headers } = await client.send({ api, ...path, headers: makeHeaders(), charge: "without key" });
    const limit = Number(headers["x-ratelimit-limit"] ?? Number.NaN);
    const remaining = Number(headers["x-ratelimit-remaining"] ?? Number.NaN);
    if (Number.isNaN(limit) || Number.isNaN(remaining)) return undefined;
    if (remaining < limit - 1) return false;
  }
  return true;
}
