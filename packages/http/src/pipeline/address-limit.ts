import { type Admission, createLocalQuota, type Limits, Problem, retryAfterSeconds } from "@petstore/core";
import type { HttpRequest } from "./http-request.js";
import { type Answer, problemReply, type Reply } from "./reply.js";

/** Addresses counted at once, about 500 bytes each. A forgotten address begins with all its units again. */
const maxAddresses = 10_000;

/**
 * Limits requests that need no key and cost no units, for each client address. The returned function counts one request, and
 * makes its reply if the address is within the limit. The rate-limit headers then show how many requests without a valid key
 * remain. Beyond the limit, the reply is RATE_LIMIT_EXCEEDED with this message, and the headers show the limit.
 */
export function createAddressLimit(
  { addressUsage }: Pick<Admission, "addressUsage">,
  limits: Limits,
  message: string,
  now: () => number,
): (request: HttpRequest, makeReply: () => Reply) => Promise<Answer> {
  const quota = createLocalQuota({ now, capacity: maxAddresses });
  return async ({ addressBucket }, makeReply) => {
    const decision = await quota.reserve({ account: addressBucket, limits, cost: 1 });
    if (decision.outcome === "refused") {
      const problem = new Problem("RATE_LIMIT_EXCEEDED", message, { retryAfterSeconds: retryAfterSeconds(decision) });
      return { reply: problemReply(problem), quota: decision };
    }
    return { reply: makeReply(), quota: await addressUsage(addressBucket) };
  };
}
