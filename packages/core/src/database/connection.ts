/** Prepares a connection to PostgreSQL, sends a query on it, and closes it. */
import { Client, type ClientBase, type ClientConfig, Query } from "pg";
import { setReplyTimeout } from "../reply-timeout.js";
import { DatabaseTimeout } from "./database-errors.js";
import { refuseUnsafePasswordRequests } from "./password-requests.js";

export interface BoundQuery {
  /** The name of the prepared statement. By default, nothing is prepared. */
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
  /** PostgreSQL usually enforces the same limit. This process gives up `answerGraceMs` later. */
  readonly timeoutMs: number;
}

/**
 * Every connection to PostgreSQL begins here, because only these clients protect the password.
 *
 * The constructor of pg throws if a certificate file in the URL is unreadable. In a callback of the pool, this error would
 * end the process. So `connect` rejects with the error instead.
 */
export function createClient(config: ClientConfig): Client {
  try {
    return refuseUnsafePasswordRequests(new Client(config));
  } catch (error) {
    const connect = async (callback?: (error: unknown) => void) => {
      if (callback === undefined) throw error;
      process.nextTick(callback, error);
    };
    return Object.assign(new Client(), { connect }) as Client;
  }
}

/** The option `Client` of a pool, which calls it with `new`, and gets the object that the function returns. */
export const ProtectedClient = createClient as unknown as new () => Client;

/** This process gives up later than the server, so that the server's own error can arrive. */
export const answerGraceMs = 100;

/**
 * A cheaper `client.query(config)`. The method of pg copies the configuration and creates two more promises, which takes
 * more CPU time than the rest of a query. Rejects with a DatabaseTimeout if the server is silent.
 */
export function sendQuery<Row>(
  client: ClientBase,
  { name = "", text, values = [], timeoutMs }: BoundQuery,
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const giveUp = () => {
      if (isAnswered) return;
      reject(new DatabaseTimeout(`no answer within ${timeoutMs + answerGraceMs} ms`));
      // Later queries on this connection would wait for the same answer.
      destroySocket(client);
    };
    const timer = setReplyTimeout(giveUp, timeoutMs + answerGraceMs);
    const query = new Query(text, values, (error, result) => {
      isAnswered = true;
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(result.rows);
    });
    client.query(Object.assign(query, { name }));
  });
}

export class NotPrimary extends Error {}

/**
 * Returns the time when the server started, in the text of `observe_pet_inserts`. It identifies the server until it restarts.
 *
 * Closes the connection and rejects with `NotPrimary` if the server is a standby. After a failover, a load balancer or a DNS
 * name may point to a standby for a moment. PostgreSQL closes its connections before a primary becomes a standby. So one
 * check of each new connection is enough without a pooler.
 *
 * The same query sets the date style. The role or the database may have another style, and pg reads only ISO. PgBouncer
 * keeps this setting for the connection, also in transaction mode.
 */
export async function requirePrimary(client: ClientBase, timeoutMs: number): Promise<string> {
  const query = { text: selectServer, timeoutMs };
  const [row] = await sendQuery<{ readonly standby: boolean; readonly server: string }>(client, query);
  if (row?.standby === false) return row.server;
  // Otherwise the pool would wait until the server closes the connection.
  destroySocket(client);
  throw new NotPrimary("the server is a standby, not the primary");
}

export const selectServer: string =
  "select pg_is_in_recovery() as standby, extract(epoch from pg_postmaster_start_time())::text as server, " +
  "set_config('datestyle', 'ISO', false)";

export const closeTimeoutMs = 500;

/** Never rejects. `client.end()` alone waits until the server closes the connection. A vanished server never does. */
export async function endClient(client: Client, timeoutMs: number = closeTimeoutMs): Promise<void> {
  const timer = setTimeout(() => destroySocket(client), timeoutMs);
  // If the connection is already lost, nothing is left to end.
  await client.end().catch(() => {});
  clearTimeout(timer);
}

export function destroySocket(client: ClientBase): void {
  // The type `ClientBase` lacks `connection`, but every client has one.
  (client as Client).connection.stream.destroy();
}
