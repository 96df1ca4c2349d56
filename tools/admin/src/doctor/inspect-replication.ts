import type { Client } from "pg";

/** The replication of the server, as far as the role of the connection may see it. */
export interface ReplicationFacts {
  /** The server itself, behind any balancer, such as `10.0.0.7:5432`. */
  readonly address: string;
  readonly isStandby: boolean;
  /** Commits wait for a standby: `synchronous_standby_names` has one, and `synchronous_commit` is not `off` or `local`. */
  readonly isSynchronous: boolean;
  /** False if PostgreSQL hides the state of the standbys from the role. */
  readonly canSeeState: boolean;
  /** The standbys that are connected to this server. */
  readonly standbys: readonly StandbyFacts[];
}

/** All fields are null if the role may not see them. */
interface StandbyFacts {
  readonly name: string | null;
  /** `streaming`, or `catchup` and others after its start. */
  readonly state: string | null;
  /** `sync` or `quorum`: commits can wait for it. `potential`: it follows one that they wait for. `async`: never. */
  readonly syncState: string | null;
  readonly lagBytes: number | null;
  /** From a commit to its replay. Null also if nothing was written for a while. */
  readonly lagSeconds: number | null;
}

export async function inspectReplication(client: Pick<Client, "query">): Promise<ReplicationFacts> {
  const { rows } = await client.query<Omit<ReplicationFacts, "standbys">>(serverQuery);
  const { rows: standbys } = await client.query<StandbyFacts>(standbysQuery);
  const [server] = rows;
  if (server === undefined) throw new Error("the database returned no row about its replication");
  return { ...server, standbys };
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
