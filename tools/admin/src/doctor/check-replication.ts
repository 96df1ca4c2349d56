import { type Finding, fault, ok, warning } from "./finding.js";
import type { ReplicationFacts } from "./inspect-replication.js";

/** A promotion replays this first, and nothing is served until then. */
const tolerableLagSeconds = 10;

/** Checks that this is the primary, and that its standbys can take over without a loss. */
export function checkReplication(facts: ReplicationFacts | undefined, role: string): Finding[] {
  const check = "replication";
  if (facts === undefined) {
    const advice = `Run doctor with another role, or grant select on pg_stat_replication, pg_replication_slots to ${role}.`;
    return [warning(check, `${role} may not look at it`, advice)];
  }
  const { address, isStandby, isSynchronous, canSeeState, standbys } = facts;
  if (isStandby) {
    const found = `${address} is a standby, and the services need the primary`;
    return [fault(check, found, "Point DATABASE_URL to the primary, or promote this standby.")];
  }
  if (standbys.length === 0 && isSynchronous) {
    const found = `${address} is the primary, and waits for a synchronous standby that is not connected`;
    return [fault(check, found, "Start a standby, or correct synchronous_standby_names: until then creates get 503.")];
  }
  if (standbys.length === 0) return [ok(check, `${address} is the primary, and has no standby`)];
  const count = `${standbys.length} ${standbys.length === 1 ? "standby" : "standbys"}`;
  if (!canSeeState) {
    const found = `${address} is the primary with ${count}, and ${role} may not see their state`;
    const advice = "Run doctor with the address of a role that has pg_monitor, or grant pg_monitor to this role.";
    return [warning(check, found, advice)];
  }
  return [checkPrimary(facts, count), ...standbys.map(checkStandby)];
}

function checkPrimary({ address, isSynchronous, standbys }: ReplicationFacts, count: string): Finding {
  const check = "replication";
  const synchronous = standbys.filter(({ syncState }) => syncState === "sync" || syncState === "quorum").length;
  if (isSynchronous && synchronous > 0)
    return ok(check, `${address} is the primary with ${count}, ${synchronous} of them synchronous`);
  if (isSynchronous) {
    const found = `${address} is the primary with ${count}, and waits for a synchronous one that is not connected`;
    return fault(check, found, "Correct synchronous_standby_names: until then creates get 503.");
  }
  return warning(
    check,
    `${address} is the primary with ${count}, none of them synchronous`,
    "A failover can lose the last creates. To prevent that, set synchronous_mode in Patroni, or synchronous_standby_names.",
  );
}

function checkStandby({ name, state, syncState, lagBytes, lagSeconds }: ReplicationFacts["standbys"][number]): Finding {
  const check = `standby ${name}`;
  const lag = `${lagBytes ?? "unknown"} bytes and ${(lagSeconds ?? 0).toFixed(1)} s behind`;
  const found = `${syncState}, ${state}, ${lag}`;
  if (state !== "streaming")
    return warning(check, found, "Wait until it has caught up, and look at its log if it does not.");
  if ((lagSeconds ?? 0) <= tolerableLagSeconds) return ok(check, found);
  return warning(check, found, "Look at its load, its disk and the network: a promotion has to replay this first.");
}
