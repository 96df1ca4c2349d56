/** Asks a quota, and turns its refusals into problems. */
import { Problem } from "../problem.js";
import { type Admitted, type Decision, type QuotaMode, retryAfterSeconds } from "../quota/decision.js";
import type { Quota, Reservation, Usage } from "../quota/quota.js";

/** What the rate-limit headers of a response show. */
export type QuotaReport = Decision | Usage;

export interface AdmissionMetrics {
  /** `undecided`: Redis is unavailable, and QUOTA_ON_REDIS_FAILURE is deny. */
  decided(bucket: BucketName, mode: QuotaMode, outcome: Decision["outcome"] | "undecided"): void;
  /** A request was refused because the process is overloaded. */
  shed(reason: string): void;
}

/** `address` counts the requests without a valid key. */
type BucketName = "account" | "address";

/** A quota, asked on behalf of requests: its refusals are problems for clients. */
export interface Bucket {
  /** Makes a new reservation or, with `receipt`, extends an admitted one. */
  reserve(reservation: Reservation, receipt?: Admitted): Promise<Verdict>;
}

export type Verdict =
  | { readonly outcome: "admitted"; readonly quota: Admitted }
  | { readonly outcome: "refused"; readonly problem: Problem; readonly quota: QuotaReport };

export function createBucket(name: BucketName, quota: Quota, metrics: Pick<AdmissionMetrics, "decided">): Bucket {
  return {
    async reserve(reservation, receipt) {
      let decision: Decision;
      try {
        decision = receipt ? await quota.extend({ ...reservation, receipt }) : await quota.reserve(reservation);
      } catch (error) {
        // Redis is unavailable and QUOTA_ON_REDIS_FAILURE is deny. `usage` returns the last known counts.
        metrics.decided(name, "fallback", "undecided");
        return { outcome: "refused", problem: Problem.from(error), quota: await quota.usage(reservation) };
      }
      metrics.decided(name, decision.mode, decision.outcome);
      if (decision.outcome === "admitted") return { outcome: "admitted", quota: decision };
      return { outcome: "refused", problem: problemOf(decision), quota: decision };
    },
  };
}

function problemOf(decision: Exclude<Decision, Admitted>): Problem {
  if (decision.outcome === "impossible") return new Problem("OPERATION_TOO_LARGE");
  const refusedBy = { minute: "RATE_LIMIT_EXCEEDED", day: "DAILY_QUOTA_EXCEEDED" } as const;
  const code = decision.outcome === "banned" ? "API_KEY_BANNED" : refusedBy[decision.by];
  return new Problem(code, undefined, { retryAfterSeconds: retryAfterSeconds(decision) });
}
