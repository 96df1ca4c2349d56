/** Makes the ticket of an admitted request. */
import type { Authentication, KeyWithLimits } from "../access/authenticator.js";
import { Problem } from "../problem.js";
import type { AccountUnits, HeldUnits } from "./account-units.js";
import type { QuotaReport } from "./bucket.js";
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
  /** When the key ends, as an HTTP date, if it ends within 30 days. Absent if the last check found that it has ended. */
  readonly announcedExpiry: string | undefined;
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

interface TicketDeps {
  readonly units: Pick<AccountUnits, "extend" | "refund">;
  /** Authenticates the request again. */
  readonly authenticate: () => Authentication | Promise<Authentication>;
}

/** `held` is absent for a request that costs nothing. */
export function createTicket(deps: TicketDeps, accepted: AcceptedKey, quota: QuotaReport, held?: HeldUnits): Ticket {
  return new AccountTicket(deps, accepted, quota, held);
}

/** A class, because V8 creates its objects several times as fast as an object of getters and functions. */
class AccountTicket implements Ticket {
  readonly outcome = "admitted";
  caller: Caller;
  key: KeyWithLimits;
  quota: QuotaReport;
  announcedExpiry: string | undefined;
  readonly #deps: TicketDeps;
  #held: HeldUnits | undefined;

  constructor(deps: TicketDeps, accepted: AcceptedKey, quota: QuotaReport, held: HeldUnits | undefined) {
    this.caller = callerOf(accepted);
    this.key = accepted.key;
    this.quota = quota;
    this.announcedExpiry = accepted.announcedExpiry;
    this.#deps = deps;
    this.#held = held;
  }

  async extend(cost: number): Promise<void> {
    const held = this.#held;
    if (held === undefined) throw new Error("a request that holds no unit cannot be extended");
    const verdict = await this.#deps.units.extend(held, cost);
    if (verdict.outcome === "refused") {
      this.quota = verdict.quota;
      throw verdict.problem;
    }
    this.quota = verdict.held.admitted;
    this.#held = verdict.held;
  }

  async confirm(): Promise<Caller> {
    const authentication = await this.#deps.authenticate();
    this.announcedExpiry = authentication.outcome === "accepted" ? authentication.announcedExpiry : undefined;
    if (authentication.outcome === "rejected") throw authentication.problem;
    const suspension = suspensionOf(authentication.key);
    if (suspension !== undefined) throw suspension;
    this.key = authentication.key;
    this.caller = callerOf(authentication);
    return this.caller;
  }

  async refund(): Promise<void> {
    const held = this.#held;
    if (held === undefined) return;
    this.#held = undefined;
    this.quota = await this.#deps.units.refund(held);
  }
}

function callerOf({ key: { accountId, scope }, staleCause }: AcceptedKey): Caller {
  return { accountId, scope, staleCause };
}

export function suspensionOf({ accountSuspendedAt }: KeyWithLimits): Problem | undefined {
  return accountSuspendedAt === undefined ? undefined : new Problem("ACCOUNT_SUSPENDED");
}
