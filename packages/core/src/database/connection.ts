/** One connection to PostgreSQL: its settings, a query on it, and its end. */
import { type Client, type ClientBase, type ClientConfig, Query, TypeOverrides, types } from "pg";
import type { DatabaseConfig } from "./database.js";
import { DatabaseTimeout } from "./database-errors.js";

/** TCP probes find a connection that a firewall has forgotten, or whose server has vanished. */
export const keepAlive: Pick<ClientConfig, "keepAlive" | "keepAliveInitialDelayMillis"> = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 30_000,
};

export function clientConfigOf(config: DatabaseConfig, statementTimeoutMs: number): ClientConfig {
  return {
    connectionString: config.url,
    application_name: "petstore",
    connectionTimeoutMillis: config.acquireTimeoutMs,
    ...keepAlive,
    types: exactTypes(),
    ...(isTransactionPooler(config.url) ? {} : sessionLimits(statementTimeoutMs)),
  };
}

/**
 * True if the URL has the parameter `pgbouncer=true`: it leads to a PgBouncer in transaction mode. Two transactions may
 * then run in two sessions, so the service prepares no statement by name, sets nothing for a session, and does not listen.
 */
export function isTransactionPooler(url: string): boolean {
  return URL.canParse(url) && new URL(url).searchParams.get("pgbouncer") === "true";
}

/** PgBouncer in transaction mode refuses these startup parameters. The role or PgBouncer has to set them there. */
function sessionLimits(statementTimeoutMs: number) {
  return {
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs(statementTimeoutMs),
    idle_in_transaction_session_timeout: 10_000,
  };
}

/** Shorter than the statement timeout, so that the error shows which of the two it was: a lock or a slow query. */
export function lockTimeoutMs(statementTimeoutMs: number): number {
  return Math.ceil(statementTimeoutMs * 0.9);
}

/** Reads int8 as bigint on our connections only: other users of pg in the process keep its defaults. */
function exactTypes(): TypeOverrides {
  const overrides = new TypeOverrides();
  overrides.setTypeParser(types.builtins.INT8, BigInt);
  return overrides;
}

export interface BoundQuery {
  /** The name of the prepared statement. Empty: nothing is prepared. */
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
  /** The server enforces it. */
  readonly timeoutMs: number;
}

/** This process gives up later than the server, so that the server's own error can arrive. */
export const answerGraceMs = 100;

/**
 * Like `client.query(config)`, which also copies the configuration and creates two more promises. Both cost more than the
 * rest of a query. Rejects with a DatabaseTimeout if the server is silent.
 */
export function sendQuery<Row>(client: ClientBase, { name, text, values, timeoutMs }: BoundQuery): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const timer = timeoutAfterReading(() => {
      if (isAnswered) return;
      reject(new DatabaseTimeout(`no answer within ${timeoutMs + answerGraceMs} ms`));
      // Later queries on this connection would wait for the same answer.
      destroySocket(client);
    }, timeoutMs + answerGraceMs);
    const query = new Query(text, values, (error, result) => {
      isAnswered = true;
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(result.rows);
    });
    client.query(Object.assign(query, { name }));
  });
}

/** How long the server has to close a connection that we end. */
export const closeTimeoutMs = 500;

/**
 * Ends a connection. `client.end()` alone waits until the server closes it too, and a server that has vanished never
 * does: the socket is then destroyed. Never rejects.
 */
export async function endClient(client: Client, timeoutMs: number = closeTimeoutMs): Promise<void> {
  const timer = setTimeout(() => destroySocket(client), timeoutMs);
  await client.end().catch(() => {});
  clearTimeout(timer);
}

/** All queries on this connection fail. */
export function destroySocket(client: ClientBase): void {
  // A client of a pool has a connection too; only its type has none.
  (client as Client).connection.stream.destroy();
}

/**
 * `setTimeout` for deadlines of replies. Node runs timers, then reads sockets, then runs immediates, so a reply that
 * arrived while this process was busy is read before the callback runs.
 */
export function timeoutAfterReading(callback: () => void, milliseconds: number): NodeJS.Timeout {
  return setTimeout(() => setImmediate(callback), milliseconds);
}
