import { Client } from "pg";

/** What an operator has to know about a database, seen from this machine. */
export interface DatabaseFacts {
  /** As PostgreSQL writes it, such as `18.1`. */
  readonly version: string;
  /** As PostgreSQL counts it: 180001. */
  readonly versionNumber: number;
  /** How far its clock is ahead of ours. */
  readonly clockOffsetMs: number;
  /** How much of that the way there and back may account for. */
  readonly clockUncertaintyMs: number;
  /** Whether something between us and the server lends its sessions out, as PgBouncer does. */
  readonly isPooled: boolean;
  /** In milliseconds; 0 for none. Set by the role, the database or the pooler: nothing of ours. */
  readonly statementTimeoutMs: number;
  readonly maxConnections: number;
}

export interface InspectOptions {
  readonly url: string;
  readonly timeoutMs: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Rejects with what pg rejects with when the database cannot be asked. */
export async function inspectDatabase({ url, timeoutMs, now }: InspectOptions): Promise<DatabaseFacts> {
  const client = new Client({
    connectionString: url,
    application_name: "petstore-doctor",
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  // Whatever was under way reports it.
  client.on("error", () => {});
  try {
    await client.connect();
    // The first query may have to wait for a connection of the pooler.
    await client.query("select 1");
    const askedAtMs = now();
    const { rows } = await client.query<FactsRow>(factsQuery);
    const answeredAtMs = now();
    const [row] = rows;
    if (row === undefined) throw new Error("the database told nothing about itself");
    return {
      version: row.version,
      versionNumber: row.version_number,
      clockOffsetMs: Math.round(row.now_ms - (askedAtMs + answeredAtMs) / 2),
      clockUncertaintyMs: Math.ceil((answeredAtMs - askedAtMs) / 2),
      // PgBouncer hands out process numbers of its own.
      isPooled: row.pid !== (client as unknown as { processID: number | null }).processID,
      statementTimeoutMs: row.statement_timeout_ms,
      maxConnections: row.max_connections,
    };
  } finally {
    await client.end().catch(() => {});
  }
}

interface FactsRow {
  version: string;
  version_number: number;
  now_ms: number;
  pid: number;
  statement_timeout_ms: number;
  max_connections: number;
}

const factsQuery = `
  select current_setting('server_version') as version, current_setting('server_version_num')::int as version_number,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, pg_backend_pid() as pid,
    (select setting::int from pg_settings where name = 'statement_timeout') as statement_timeout_ms,
    current_setting('max_connections')::int as max_connections`;
