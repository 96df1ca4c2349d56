/**
 * The quota of instances that share a Redis: Redis decides or, while it is unavailable, each instance alone. Afterwards the
 * instance reports to Redis what it granted. This comment explains the protocol. The operations guide has its bounds: how many
 * units all instances together may grant.
 *
 * ## The way of a reservation
 *
 * 1. `batch-equal.ts` combines equal reservations that arrive at the same time. `decide` below then asks the breaker of the
 *    account's shard. `breakers.ts` finds it.
 * 2. If the breaker is closed, `callRedis` takes the report that the account owes, and `redis-quota.ts` calls the script with it.
 *    `last-known-counts.ts` keeps the counts of the reply for the next outage.
 * 3. If the breaker is open, or if the call fails, `last-known-counts.ts` decides.
 *
 * ## Words
 *
 * - A *shard* is the master of some slots in a Redis Cluster. Any other Redis is one shard. `shards.ts` has these terms.
 * - An *outage* is the time while the breaker of this instance for a shard is open. It concerns the accounts of this shard. Other
 *   instances may not have an outage.
 * - *Known* units of a window: Redis counts them, as far as this instance can know. Each reply of Redis sets their number.
 * - *Granted* units: this instance has admitted requests with them in an outage, within its share of what Redis had left.
 *   `share.ts` has the rule for the share.
 * - *Owed* units: granted, but not reported to Redis yet.
 * - *Unconfirmed* units: granted, and known because a call carried them, but no reply has included them yet. They count against
 *   the share of this instance, like owed units.
 * - A *report*: the known and the owed units of an account, carried by a call about this account. The script of Redis raises
 *   its counter to the known units if it counts fewer, because it may have lost data, and then adds the owed units.
 *
 * `account-counts.ts` has the known, owed and unconfirmed units of an account, and how each event changes them.
 *
 * ## A shard in the instance
 *
 * `breaker.ts` keeps its state, which holds for all accounts of the shard.
 *
 * | state | a request | the state ends |
 * |---|---|---|
 * | shared (breaker closed) | is a call to Redis | at the first call that fails, or when the connection is lost |
 * | fallback (breaker open) | is decided by `last-known-counts.ts`, without a call | when a probe in the background succeeds |
 *
 * The shards of a cluster have their states independently. An account goes to another shard when its slot does. The state of the
 * new shard then decides. `cluster-shards.ts` follows the slots, and says what a failover means for a shard.
 *
 * | the slot of an account moves | the account |
 * |---|---|
 * | between two shards in the state shared | its counts move with the slot, so nothing changes |
 * | from fallback to shared | its outage is over: its next call carries a report to the new shard |
 * | from shared to fallback, or from fallback to fallback | its outage begins, for the second time if it had one |
 * | while a call is in flight | follows these rows at once. If the call fails, its outage begins, whatever the state |
 *
 * With the failure mode `deny`, the fallback refuses with SERVICE_UNAVAILABLE instead of deciding. Nothing is granted then, but
 * reports still raise an empty Redis to the known units.
 *
 * ## An account in the instance
 *
 * | state | meaning | event | next state |
 * |---|---|---|---|
 * | settled | it owes no report | a reply of Redis sets the known units | settled |
 * | | | an outage begins | owing |
 * | owing | its next call to Redis carries a report | a request is granted in the outage, so its units are owed | owing |
 * | | | a call with the report is sent, so the owed units are known from now on | settled |
 *
 * An account that this instance sees for the first time is settled after a reply of Redis, and owing after a decision in an
 * outage. An owing account may have no owed units. It reports anyway, in case Redis has lost its known units.
 *
 * At the first request for an account in an outage, the used units of its local quota are set so that it may grant this
 * instance's share of the units left. The share goes by the time when the outage began, which `breakers.ts` keeps for each slot.
 * The local quota then counts by itself until the outage ends. If the outage begins a second time, the share is computed again,
 * less the units granted since, and by the new time.
 *
 * ## A call that fails
 *
 * Each failure begins an outage, unless one has begun already, so all accounts of the shard are owing. This instance then
 * decides the request of the call. Decision 0005 explains which calls Redis may have executed:
 *
 * | failure | Redis | the units of the request | the owed units of the report in the call |
 * |---|---|---|---|
 * | an error as the reply, even after redirections | has not executed the call | are owed | are owed again |
 * | no reply, or a reply after an outage began | may have executed it, or will | are known | stay known |
 *
 * Known units are never added twice: the next report only raises the counter of Redis to them. If Redis did not execute the call,
 * and the other instances have raised the counter to this number already, the units of the call are missing from it.
 * Decision 0005 accepts this gap.
 *
 * ## Example
 *
 * Two instances, A and B, and a limit of 60. Redis has counted 20, which A knows. Redis is killed and loses its data.
 *
 * 1. In the minute before, neither served more than half of the limit. So A grants from its share of the rest, (60 - 20) / 2 = 20
 *    units. After 5 requests: 20 known, 5 owed.
 * 2. A probe of A succeeds. The next request of A is a call with the report "20 known, 5 owed". Redis counts 0, raises this to
 *    20, adds 5, and then counts the request: 26. A now knows 26 and owes nothing.
 * 3. B knew 12 and has granted 3. Its report raises nothing, because Redis counts more than 12, and adds 3.
 * 4. If the reply to A had been lost, A would also know 26. Its next report, "26 known, 0 owed", would change nothing.
 */
import { Problem } from "../../../problem.js";
import type { Admitted, Decision } from "../../decision.js";
import type { Penalties } from "../../penalties.js";
import type { Quota, Reservation } from "../../quota.js";
import type { AccountCounts } from "../account-counts.js";
import { batchEqual } from "../batch-equal.js";
import { isErrorReply } from "../error-reply.js";
import type { RedisQuota } from "../redis-quota.js";
import type { Breakers } from "./breakers.js";
import type { LastKnownCounts } from "./last-known-counts.js";

export interface FallbackQuotaOptions {
  readonly redisQuota: RedisQuota;
  readonly breakers: Breakers;
  readonly counts: LastKnownCounts;
  readonly failureMode: FailureMode;
}

/** During an outage, an instance decides alone, or refuses with SERVICE_UNAVAILABLE. */
export type FailureMode = "local" | "deny";

/**
 * `liftBan` acts on this instance and on Redis. It ignores a failure of Redis: `core.ts` lifts the ban again whenever it reads
 * the key record. `penalties` and `bans` are those of Redis or, for accounts with an outage, those that this instance knows. A
 * failure of these two rejects, and does not open a breaker: no request waits for them.
 */
export function createFallbackQuota({
  redisQuota,
  breakers,
  counts,
  failureMode,
}: FallbackQuotaOptions): Quota & Penalties {
  /** `call` must carry the report to Redis. */
  async function callRedis<Reply>(
    account: string,
    call: (report: AccountCounts | undefined) => Promise<Reply>,
  ): Promise<Reply> {
    const report = counts.takeReport(account);
    try {
      return await breakers.run(account, () => call(report));
    } catch (error) {
      if (report !== undefined && isErrorReply(error)) counts.oweAgain(account, report);
      throw error;
    }
  }

  async function decide(reservation: Reservation, times: number, receipt?: Admitted): Promise<readonly Decision[]> {
    if (!breakers.canCall(reservation.account)) return decideAlone(times, () => counts.decide(reservation, receipt));
    try {
      const decisions = await callRedis(reservation.account, (report) =>
        redisQuota.decide(reservation, { times, report, receipt }),
      );
      for (const decision of decisions) counts.observe(reservation, decision, receipt);
      return decisions;
    } catch (error) {
      // The breaker has logged the first failure.
      return decideAlone(times, () =>
        isErrorReply(error) ? counts.decide(reservation, receipt) : counts.decideUnanswered(reservation, receipt),
      );
    }
  }

  function decideAlone(times: number, decideOne: () => Decision): Decision[] {
    if (failureMode === "local") return Array.from({ length: times }, decideOne);
    throw new Problem("SERVICE_UNAVAILABLE", "The quota cannot be checked; try again shortly.", {
      cause: new Error("Redis is unavailable"),
      retryAfterSeconds: 1,
    });
  }

  return {
    // `decide` checks the breaker when the batch is sent: the breaker may have opened since the first request arrived.
    reserve: batchEqual(decide),
    async extend({ receipt, ...reservation }) {
      const [decision] = await decide(reservation, 1, receipt);
      return decision as Decision;
    },
    async usage(query) {
      if (!breakers.canCall(query.account)) return counts.usage(query);
      // The breaker logs the failure.
      return callRedis(query.account, (report) => redisQuota.usage(query, report)).catch(() => counts.usage(query));
    },
    async refund(refund) {
      if (!breakers.canCall(refund.account)) return counts.refund(refund);
      counts.observeRefund(refund);
      return callRedis(refund.account, (report) => redisQuota.refund(refund, report)).catch((error: unknown) =>
        // Without an error reply, Redis may have given the units back already.
        isErrorReply(error) ? counts.refund(refund) : counts.usage(refund),
      );
    },
    async liftBan(lift) {
      await counts.liftBan(lift);
      // The breaker logs the failure.
      if (breakers.canCall(lift.account)) {
        await breakers.run(lift.account, () => redisQuota.liftBan(lift)).catch(() => {});
      }
    },
    penalties: (query) => (breakers.canCall(query.account) ? redisQuota : counts).penalties(query),
    async bans() {
      const isAnyShared = breakers.states().some(({ isShared }) => isShared);
      const [stored, known] = await Promise.all([isAnyShared ? redisQuota.bans() : [], counts.bans()]);
      return [...stored, ...known.filter(({ account }) => !breakers.canCall(account))];
    },
  };
}
