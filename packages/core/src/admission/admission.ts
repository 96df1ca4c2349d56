/**
 * Decides which requests are served, before their bodies are read: the same for both APIs, and without HTTP.
 *
 * 1. An overloaded process refuses a request with 503 before it checks the key. Nothing is counted.
 * 2. The key is checked. A request without a valid key is counted by its address: it gets 401, or 429 if the address is over
 *    its limit. If the key can neither be checked nor found in the cache, it gets 503, and nothing is counted.
 * 3. One unit of the account is reserved, or the request gets 429.
 * 4. A suspended account gets 403. It is counted like any other, so that a flood gets 429.
 */
import { LRUCache } from "lru-cache";
import type { Authentication, Authenticator, KeyWithLimits } from "../access/authenticator.js";
import type { KeyWithAccount } from "../access/key-repository.js";
import { Problem } from "../problem.js";
import type { Limits } from "../quota/plan.js";
import type { Quota, Reservation, Usage } from "../quota/quota.js";
import type { CountedAs, UsageCounters } from "../usage/usage-counters.js";
import { createAccountUnits, reservationOf } from "./account-units.js";
import { type AdmissionMetrics, createBucket, type QuotaReport } from "./bucket.js";
import { createTicket, suspensionOf, type Ticket } from "./ticket.js";

export interface Admission {
  /** A free request shows its quota and takes no unit. Any other takes one, and can be extended later. */
  admit(arrival: Arrival, charge: Charge): Promise<Ticket | Refusal>;
  /** Refuses a request that is not valid HTTP, and counts it by its address. */
  refuseMalformed(address: string, problem: Problem): Promise<Refusal>;
  /** The requests without a valid key of this address. Counts nothing. */
  addressUsage(address: string): Promise<Usage>;
}

/** Whether a request takes a unit, and under which operation the usage history counts it. */
export type Charge = "free" | CountedAs;

interface Arrival {
  /** The API key, or why the request has none. */
  readonly token: string | Problem;
  /** Counts the client while it has no valid key. Clients that share a network may share it. */
  readonly address: string;
}

export interface Refusal {
  readonly outcome: "refused";
  readonly problem: Problem;
  /** The quota of the account, or of the address if the key is not valid or was not checked. */
  readonly quota: QuotaReport;
  /** The record of the key, for the log: also of a revoked or expired key. */
  readonly key: KeyWithAccount | undefined;
  /** As in `Ticket`. Absent if the key is not valid or was not checked. */
  readonly announcedExpiry: string | undefined;
}

interface AdmissionDeps {
  readonly authenticator: Pick<Authenticator, "authenticate">;
  readonly accountQuota: Quota;
  readonly addressQuota: Quota;
  readonly anonymousLimits: Limits;
  readonly usageCounters: Pick<UsageCounters, "addAdmitted" | "addRefused">;
  /** Why the process cannot serve requests in time; `undefined` while it can. */
  readonly overload: { readonly reason: string | undefined };
  readonly metrics: AdmissionMetrics;
  readonly monotonicNow: () => number;
}

/** A client that polls its quota causes at most one call to Redis in this time. */
const usageKeptForMs = 1_000;
const maxKeptUsages = 10_000;

export function createAdmission(deps: AdmissionDeps): Admission {
  const { authenticator, accountQuota, addressQuota, anonymousLimits, usageCounters, overload } = deps;
  const { metrics, monotonicNow } = deps;
  const units = createAccountUnits(createBucket("account", accountQuota, metrics), accountQuota, usageCounters);
  const addresses = createBucket("address", addressQuota, metrics);
  // A changed key or account has a new record, so its quota is read again.
  const usages = new LRUCache<KeyWithLimits, Promise<Usage>>({
    max: maxKeptUsages,
    ttl: usageKeptForMs,
    ttlResolution: 0,
    perf: { now: monotonicNow },
    memoMethod: (key) => accountQuota.usage(reservationOf(key)),
  });

  function authenticate({ token, address }: Arrival): Authentication | Promise<Authentication> {
    if (token instanceof Problem) return { outcome: "rejected", problem: token };
    return authenticator.authenticate(token, address);
  }

  async function countByAddress(address: string, problem: Problem, key?: KeyWithAccount): Promise<Refusal> {
    const verdict = await addresses.reserve(anonymousReservation(address));
    return refusal(verdict.outcome === "refused" ? verdict.problem : problem, verdict.quota, key);
  }

  function anonymousReservation(address: string): Reservation {
    return { account: address, limits: anonymousLimits, cost: 1 };
  }

  function addressUsage(address: string): Promise<Usage> {
    return addressQuota.usage(anonymousReservation(address));
  }

  return {
    async admit(arrival, charge) {
      const { reason } = overload;
      if (reason !== undefined) {
        metrics.shed(reason);
        return refusal(overloaded(reason), await addressUsage(arrival.address));
      }
      let authentication: Authentication;
      try {
        authentication = await authenticate(arrival);
      } catch (error) {
        // The key may be valid or not, so neither its account nor the address is charged.
        return refusal(Problem.from(error), await addressUsage(arrival.address));
      }
      if (authentication.outcome === "rejected") {
        return countByAddress(arrival.address, authentication.problem, authentication.key);
      }
      const { key, announcedExpiry } = authentication;
      const suspension = suspensionOf(key);
      const ticketDeps = { units, authenticate: () => authenticate(arrival) };
      if (charge === "free") {
        const usage = await usages.memo(key);
        if (suspension !== undefined) return refusal(suspension, usage, key, announcedExpiry);
        return createTicket(ticketDeps, authentication, usage);
      }
      const verdict = await units.reserve(key, charge);
      if (verdict.outcome === "refused") return refusal(verdict.problem, verdict.quota, key, announcedExpiry);
      const { held } = verdict;
      if (suspension !== undefined) return refusal(suspension, held.admitted, key, announcedExpiry);
      return createTicket(ticketDeps, authentication, held.admitted, held);
    },
    refuseMalformed: countByAddress,
    addressUsage,
  };
}

function refusal(problem: Problem, quota: QuotaReport, key?: KeyWithAccount, announcedExpiry?: string): Refusal {
  return { outcome: "refused", problem, quota, key, announcedExpiry };
}

function overloaded(reason: string): Problem {
  return new Problem(
    "SERVICE_UNAVAILABLE",
    "There are more requests than can be answered in time; try again shortly.",
    {
      cause: new Error(`${reason} overload`),
      retryAfterSeconds: 1,
    },
  );
}
