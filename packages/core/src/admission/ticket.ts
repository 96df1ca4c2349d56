import type { Authentication, KeyWithLimits } from "../access/authenticator.js";
import { Problem } from "../problem.js";
import type { Admitted } from "../quota/decision.js";
import type { Quota, Reservation } from "../quota/quota.js";
import type { Bucket, QuotaReport } from "./bucket.js";
import type { Caller } from "./caller.js";

/** An admitted request: who calls, and the units that the request holds. */
export interface Ticket {
  readonly outcome: "admitted";
  /** As the key was when it was last checked. */
  readonly caller: Caller;
  /** The key record behind `caller`. */
  readonly key: KeyWithLimits;
  /** The quota of the account after the last change by this request. */
  readonly quota: QuotaReport;
  /**
   * Reserves `cost` units in place of the one unit of the admission. Throws the problem if the quota refuses: the request then
   * still holds its one unit, which pays for the work that found out the cost.
   */
  extend(cost: number): Promise<void>;
  /**
   * Checks the key again, and resolves with the caller as it is now. Call it before work that may begin long after the
   * admission, such as parsing a body that took 30 s to arrive. The cache has the record of a key that is in use, so this
   * seldom waits for PostgreSQL. Throws a problem with 401 or 403, or SERVICE_UNAVAILABLE if no record can be read.
   */
  confirm(): Promise<Caller>;
  /** Gives the held units back. A second call does nothing. */
  refund(): Promise<void>;
}

type AcceptedKey = Extract<Authentication, { readonly outcome: "accepted" }>;

/** The units that a request holds. */
interface Receipt {
  readonly reservation: Reservation;
  readonly admitted: Admitted;
}

interface TicketDeps {
  readonly accounts: Bucket;
  readonly accountQuota: Pick<Quota, "refund">;
  /** Authenticates the request again. */
  readonly authenticate: () => Authentication | Promise<Authentication>;
}

/** `receipt` is absent for a request that costs nothing. */
export function createTicket(
  { accounts, accountQuota, authenticate }: TicketDeps,
  accepted: AcceptedKey,
  admittedWith: QuotaReport,
  receipt?: Receipt,
): Ticket {
  let key = accepted.key;
  let caller = callerOf(accepted);
  let quota = admittedWith;
  let held = receipt;

  return {
    outcome: "admitted",
    get caller() {
      return caller;
    },
    get key() {
      return key;
    },
    get quota() {
      return quota;
    },
    async extend(cost) {
      if (held === undefined) throw new Error("a request that holds no unit cannot be extended");
      const reservation = { ...held.reservation, cost };
      const verdict = await accounts.reserve(reservation, held.admitted);
      quota = verdict.quota;
      if (verdict.outcome === "refused") throw verdict.problem;
      held = { reservation, admitted: verdict.quota };
    },
    async confirm() {
      const authentication = await authenticate();
      if (authentication.outcome === "rejected") throw authentication.problem;
      const suspension = suspensionOf(authentication.key);
      if (suspension !== undefined) throw suspension;
      key = authentication.key;
      caller = callerOf(authentication);
      return caller;
    },
    async refund() {
      if (held === undefined) return;
      const { reservation, admitted } = held;
      held = undefined;
      quota = await accountQuota.refund({ ...reservation, receipt: admitted });
    },
  };
}

function callerOf({ key: { accountId, scope }, isStale }: AcceptedKey): Caller {
  return { accountId, scope, isStale };
}

export function suspensionOf({ accountSuspendedAt }: KeyWithLimits): Problem | undefined {
  return accountSuspendedAt === undefined ? undefined : new Problem("ACCOUNT_SUSPENDED");
}
