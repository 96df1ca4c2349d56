// Whether a client can choose the address by which the service counts its requests without a key.
import { type Finding, fault, ok, skipped } from "../finding.js";
import type { ApiName, StoreClient } from "./store-client.js";

/**
 * Each instance counts for itself. So a request that is the first one of its address may have met another instance: only if
 * all of these requests are the first one of their addresses, the addresses are believed.
 */
const requests = 12;

export async function checkAddress(client: StoreClient): Promise<Finding> {
  const check = "client address";
  const forged: ApiName[] = [];
  for (const api of ["REST", "GraphQL"] as const) {
    const isBelieved = await believesForgedAddress(client, api);
    if (isBelieved === undefined) {
      return skipped(check, `${api} shows no X-RateLimit headers without a key, so its counts cannot be compared`);
    }
    if (isBelieved) forged.push(api);
  }
  if (forged.length === 0) return ok(check, "X-Forwarded-For of a client does not change it");
  const found = `a client of ${forged.join(" and ")} chooses the address that counts it, by its own X-Forwarded-For`;
  const advice =
    "Let the first proxy overwrite X-Forwarded-For, or append the address of its peer, and let TRUST_PROXY cover only your proxies.";
  return fault(check, found, advice, "the-balancer");
}

async function believesForgedAddress(client: StoreClient, api: ApiName): Promise<boolean | undefined> {
  for (let sent = 0; sent < requests; sent += 1) {
    // Of the network for documentation (RFC 3849). The service counts a /64, and nobody else has drawn this one.
    const [one, other] = [client.random(2), client.random(2)];
    const { headers } = await client.send({
      api,
      ...(api === "REST" && { path: "/v1/pets" }),
      headers: { "X-Forwarded-For": `2001:db8:${one}:${other}::1` },
      charge: "without key",
    });
    const limit = Number(headers["x-ratelimit-limit"] ?? Number.NaN);
    const remaining = Number(headers["x-ratelimit-remaining"] ?? Number.NaN);
    if (Number.isNaN(limit) || Number.isNaN(remaining)) return undefined;
    if (remaining < limit - 1) return false;
  }
  return true;
}
