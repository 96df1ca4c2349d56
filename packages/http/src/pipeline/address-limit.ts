import { createLocalQuota, type Limits, Problem, retryAfterSeconds } from "@petstore/core";
import type { Response } from "express";
import { addressBucket } from "../server/client-identity.js";
import { type Admission, reportQuota } from "./admission.js";
import { contextOf } from "./request-context.js";

/** Addresses counted at once, about 500 bytes each. A forgotten address begins with all its units again. */
const maxAddresses = 10_000;

/**
 * Limits what needs no key and costs no units, for each client address. The returned function counts one request and sets
 * its rate-limit headers. They show how many requests without a valid key remain. Beyond the limit it throws
 * RATE_LIMIT_EXCEEDED with this message, and the headers show the limit.
 */
export function createAddressLimit(
  admission: Pick<Admission, "reportAddressQuota">,
  limits: Limits,
  message: string,
  now: () => number,
): (res: Response) => Promise<void> {
  const quota = createLocalQuota({ now, capacity: maxAddresses });
  return async (res) => {
    const account = addressBucket(contextOf(res).clientAddress);
    const decision = await quota.reserve({ account, limits, cost: 1 });
    if (decision.outcome !== "refused") return admission.reportAddressQuota(res);
    reportQuota(res, decision);
    throw new Problem("RATE_LIMIT_EXCEEDED", message, { retryAfterSeconds: retryAfterSeconds(decision) });
  };
}
