import type { ClientBase } from "pg";
import { destroySocket, sendQuery } from "./connection.js";

export class NotPrimary extends Error {}

/**
 * Closes the connection and rejects with `NotPrimary` if the server is a standby: its reads are stale, and it refuses writes.
 * After a failover, a balancer or a name may point to a standby for a moment. One check of each new connection is enough
 * without a pooler, because PostgreSQL closes its connections before a primary becomes a standby.
 */
export async function requirePrimary(client: ClientBase, timeoutMs: number): Promise<void> {
  const text = "select pg_is_in_recovery() as value";
  const [row] = await sendQuery<{ readonly value: boolean }>(client, { name: "", text, values: [], timeoutMs });
  if (row?.value === false) return;
  // The pool would wait until the server closes the connection too.
  destroySocket(client);
  throw new NotPrimary("the server is a standby, not the primary");
}
