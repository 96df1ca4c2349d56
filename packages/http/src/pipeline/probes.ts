import type { Limits } from "@petstore/core";
import type { RequestHandler } from "express";
import { answerHealth, type HealthDeps, isProbe } from "../observability/health.js";
import { createAddressLimit } from "./address-limit.js";
import type { Admission } from "./admission.js";

/**
 * 200 a second: 100 load balancers behind one address can check both paths every second. One probe takes about 0.1 ms. The
 * day limit is never reached: 12,000 a minute is 17,280,000 a day.
 */
const probesPerAddress: Limits = { perMinute: 12_000, perDay: 20_000_000 };

export interface ProbeDeps extends HealthDeps {
  readonly admission: Pick<Admission, "reportAddressQuota">;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** `/livez` and `/readyz` need no key and cost no units. The probes on the metrics port have no limit. */
export function answerProbes(deps: ProbeDeps): RequestHandler {
  const { admission, now } = deps;
  const message = `An address may send ${probesPerAddress.perMinute} probes a minute. The metrics port has no limit.`;
  const count = createAddressLimit(admission, probesPerAddress, message, now);
  const answer = answerHealth(deps, "status");
  return (req, res, next) => {
    if (!isProbe(req)) return next();
    return count(res).then(() => answer(req, res, next));
  };
}
