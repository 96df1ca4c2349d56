import { Client, DatabaseError } from "pg";
import { inspectReplication, type ReplicationFacts } from "./inspect-replication.js";

/** The state of a database that concerns an operator, seen from this machine. */
export interface DatabaseFacts {
  /** As PostgreSQL writes it, such as `18.1`. */
  readonly version: string;
  /** As PostgreSQL counts it: 180001. */
  readonly versionNumber: number;
  /** How far the server's clock is ahead of ours. */
  readonly clockOffsetMs: number;
  /** How much of the offset the round trip may account for. */
  readonly clockUncertaintyMs: number;
  /** True if a pooler such as PgBouncer shares the server's sessions between clients. */
  readonly isPooled: boolean;
  /** Set by the role, the database or the pooler, not by us. In milliseconds; 0 for none. */
  readonly statementTimeoutMs: number;
  readonly role: RoleFacts;
  /** `undefined` if the role may not look at it. */
  readonly replication: ReplicationFacts | undefined;
}

/** The rights of the connection's role, beyond reading and writing rows. */
interface RoleFacts {
  readonly name: string;
  readonly isSuperuser: boolean;
  /** It may create roles or databases. */
  readonly isAdministrator: boolean;
  /** It may create tables, or owns existing ones and may alter and drop them. */
  readonly canChangeTables: boolean;
}

interface InspectOptions {
  readonly url: string;
  readonly timeoutMs: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Rejects with pg's error if the database cannot be reached. */
export async function inspectDatabase({ url, timeoutMs, now }: InspectOptions): Promise<DatabaseFacts> {
  const client = new Client({
    connectionString: url,
    application_name: "petstore-doctor",
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  // The query that fails reports the fault.
  client.on("error", () => {});
  try {
    await client.connect();
    const role = await one<RoleFacts>(client, roleQuery);
    const sentAtMs = now();
    const { nowMs, pid, ...facts } = await one<ServerRow>(client, serverQuery);
    const receivedAtMs = now();
    return {
      ...facts,
      clockOffsetMs: Math.round(nowMs - (sentAtMs + receivedAtMs) / 2),
      clockUncertaintyMs: Math.ceil((receivedAtMs - sentAtMs) / 2),
      // PgBouncer sends its clients process numbers of its own.
      isPooled: pid !== (client as unknown as { processID: number | null }).processID,
      role,
      replication: await inspectReplication(client).catch(orHidden),
    };
  } finally {
    await client.end().catch(() => {});
  }
}

/** SQLSTATE 42501: insufficient privilege. */
function orHidden(error: unknown): undefined {
  if (!(error instanceof DatabaseError && error.code === "42501")) throw error;
}

async function one<Row extends object>(client: Client, text: string): Promise<Row> {
  const [row] = (await client.query<Row>(text)).rows;
  if (row === undefined) throw new Error("the database returned no row about itself");
  return row;
}

/** `pg_has_role` also sees the rights that the role inherits. */
const roleQuery = `
  select rolname as name, rolsuper as "isSuperuser", rolcreaterole or rolcreatedb as "isAdministrator",
    coalesce(has_schema_privilege(current_schema(), 'create'), false)
      or exists (select from pg_class
                 where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
                   and pg_has_role(relowner, 'usage')) as "canChangeTables"
  from pg_roles where rolname = current_user`;

interface ServerRow extends Pick<DatabaseFacts, "version" | "versionNumber" | "statementTimeoutMs"> {
  readonly nowMs: number;
  readonly pid: number;
}

const serverQuery = `
  select current_setting('server_version') as version, current_setting('server_version_num')::int as "versionNumber",
    (select setting::int from pg_settings where name = 'statement_timeout') as "statementTimeoutMs",
    (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs", pg_backend_pid() as pid`;
