import type { Client } from "pg";
import { type Finding, fault, ok, warning } from "./finding.js";
import { isInsufficientPrivilege } from "./insufficient-privilege.js";

/** The replication of the server, as far as the role of the connection may see it. */
interface Replication {
  /** The server itself, behind any balancer, such as `10.0.0.7:5432`. */
  readonly address: string;
  readonly isStandby: boolean;
  /** Commits wait for a standby: `synchronous_standby_names` has one, and `synchronous_commit` is not `off` or `local`. */
  readonly isSynchronous: boolean;
  /** False if PostgreSQL hides the state of the standbys from the role. */
  readonly canSeeState: boolean;
}

/** All fields are null if the role may not see them. */
interface Standby {
  readonly name: string | null;
  /** `streaming`, or `catchup` and others after its start. */
  readonly state: string | null;
  /** `sync` or `quorum`: commits can wait for it. `potential`: it follows one that they wait for. `async`: never. */
  readonly syncState: string | null;
  readonly lagBytes: number | null;
  /** From a commit to its replay. Null also if nothing was written for a while. */
  readonly lagSeconds: number | null;
}

/** A promotion replays this first, and nothing is served until then. */
const tolerableLagSeconds = 10;

/** Checks that the server is the primary, and that its standbys can take over without a loss. */
export async function checkReplication(client: Client, role: string): Promise<Finding[]> {
  try {
    const servers = await client.query<Replication>(serverQuery);
    const standbys = await client.query<Standby>(standbysQuery);
    return servers.rows.flatMap((server) => checkServer(server, standbys.rows, role));
  } catch (error) {
    if (!isInsufficientPrivilege(error)) throw error;
    const advice = `Run doctor with another role, or grant select on pg_stat_replication, pg_replication_slots to ${role}.`;
    return [warning("replication", `${role} may not look at it`, advice)];
  }
}

function checkServer(server: Replication, standbys: readonly Standby[], role: string): Finding[] {
  const check = "replication";
  const { address, isStandby, isSynchronous, canSeeState } = server;
  if (isStandby) {
    const found = `${address} is a standby, and the services need the primary`;
    return [fault(check, found, "Point DATABASE_URL to the primary, or promote this standby.")];
  }
  const [only, ...others] = standbys;
  const count = others.length === 0 ? "1 standby" : `${standbys.length} standbys`;
  const primary = `${address} is the primary${only === undefined ? "" : ` with ${count}`}`;
  if (only !== undefined && !canSeeState) {
    const advice = "Run doctor with the address of a role that has pg_monitor, or grant pg_monitor to this role.";
    return [warning(check, `${primary}, and ${role} may not see their state`, advice)];
  }
  const synchronous = standbys.filter(({ syncState }) => syncState === "sync" || syncState === "quorum").length;
  const findings = standbys.map(checkStandby);
  if (isSynchronous && synchronous === 0) {
    const advice = "Start a standby, or correct synchronous_standby_names: until then creates get 503.";
    return [fault(check, `${primary}, and waits for a synchronous standby that is not connected`, advice), ...findings];
  }
  if (only === undefined) return [ok(check, `${primary}, and has no standby`)];
  if (isSynchronous) return [ok(check, `${primary}, ${synchronous} of them synchronous`), ...findings];
  const setting = "set synchronous_mode in Patroni, or synchronous_standby_names";
  const advice = `A failover can lose the last creates. To prevent that, ${setting}.`;
  return [warning(check, `${primary}, none of them synchronous`, advice), ...findings];
}

export function checkStandby({ name, state, syncState, lagBytes, lagSeconds }: Standby): Finding {
  const check = `standby ${name}`;
  const lag = `${lagBytes ?? "unknown"} bytes and ${(lagSeconds ?? 0).toFixed(1)} s behind`;
  const found = `${syncState}, ${state}, ${lag}`;
  if (state !== "streaming")
    return warning(check, found, "Wait until it has caught up, and look at its log if it does not.");
  if ((lagSeconds ?? 0) <= tolerableLagSeconds) return ok(check, found);
  return warning(check, found, "Look at its load, its disk and the network: a promotion has to replay this first.");
}

const serverQuery = `
  select coalesce(host(inet_server_addr()) || ':' || inet_server_port(), 'this machine') as address,
    pg_is_in_recovery() as "isStandby",
    current_setting('synchronous_standby_names') <> '' and current_setting('synchronous_commit') not in ('off', 'local')
      as "isSynchronous",
    pg_has_role('pg_read_all_stats', 'usage') as "canSeeState"`;

/** Base backups and logical subscribers are in this view too. */
const standbysQuery = `
  select application_name as name, state, sync_state as "syncState",
    case when pg_is_in_recovery() then null else pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::float8 end
      as "lagBytes",
    extract(epoch from replay_lag)::float8 as "lagSeconds"
  from pg_stat_replication
  where state is distinct from 'backup' and application_name is distinct from 'pg_receivewal'
    and pid not in (select active_pid from pg_replication_slots where slot_type = 'logical' and active_pid is not null)
  order by application_name`;
