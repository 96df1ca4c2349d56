import type { Admission, Limits } from "@petstore/core";
import type { CheckHealth } from "../observability/health.js";
import { createAddressLimit } from "./address-limit.js";
import type { HttpRequest } from "./http-request.js";
import { type Answer, jsonReply } from "./reply.js";

/**
 * 200 a second: 100 load balancers behind one address can check both paths every second. One probe takes about 0.1 ms. The
 * day limit is never reached: 12,000 a minute is 17,280,000 a day.
 */
const probesPerAddress: Limits = { perMinute: 12_000, perDay: 20_000_000 };

export const probePaths: readonly string[] = ["/livez", "/readyz"];

/** Returns the function that answers `/livez` or `/readyz`; `undefined` for any other request. */
export type FindProbe = (request: HttpRequest) => (() => Promise<Answer>) | undefined;

/** Probes need no key and cost no units. Those on the metrics port have no limit. */
export function createProbes(
  admission: Pick<Admission, "addressUsage">,
  checkHealth: CheckHealth,
  now: () => number,
): FindProbe {
  const message = `An address may send ${probesPerAddress.perMinute} probes a minute. The metrics port has no limit.`;
  const count = createAddressLimit(admission, probesPerAddress, message, now);
  return (request) => {
    const health = checkHealth(request.method, request.url);
    if (health === undefined) return undefined;
    const [status, report] = health;
    return () => count(request, () => jsonReply(status, JSON.stringify({ status: report.status })));
  };
}
