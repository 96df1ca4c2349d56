import type { Client, ClientBase } from "pg";

/** How long the other side has to close a connection that is ended. */
export const goodbyeMs = 500;

/**
 * Ends a connection. `client.end()` alone waits until the server closes it too, which a server that has vanished never
 * does: then the socket is destroyed. Never rejects.
 */
export async function endClient(client: Client, timeoutMs: number = goodbyeMs): Promise<void> {
  const timer = setTimeout(() => destroySocket(client), timeoutMs);
  await client.end().catch(() => {});
  clearTimeout(timer);
}

/** All queries on this connection fail. */
export function destroySocket(client: ClientBase): void {
  // The types give the connection to those clients alone that belong to no pool.
  (client as Client).connection.stream.destroy();
}
