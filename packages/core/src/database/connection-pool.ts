/** Runs a query alone on a connection of the pool: a write, or a read that the shared connections cannot run. */
import { DatabaseError, Pool, type PoolClient } from "pg";
import {
  type BoundQuery,
  closeTimeoutMs,
  destroySocket,
  ProtectedClient,
  requirePrimary,
  sendQuery,
} from "./connection.js";
import {
  type ConnectionCounts,
  type ConnectionOptions,
  clientConfigOf,
  isTransactionPooler,
  lockTimeoutMs,
} from "./connection-config.js";
import { asProblem, DatabaseTimeout } from "./database-errors.js";

export interface ConnectionPool extends AsyncDisposable {
  /** Runs a query alone on its connection. Rejects with a Problem. */
  run<Row>(query: BoundQuery): Promise<Row[]>;
  /** Closes the connections without a query in flight. The next query opens a new one. */
  dropIdle(): void;
  connections(): ConnectionCounts;
}

export function openConnectionPool(options: ConnectionOptions): ConnectionPool {
  const { size, config, onServer, onLoss, onTimeout } = options;
  const pool = new Pool({
    ...clientConfigOf(config, config.writeTimeoutMs),
    Client: ProtectedClient,
    max: size,
    // Idle connections stay open: an idle timeout would set and clear a timer for every query.
    idleTimeoutMillis: 0,
    onConnect: async (client) => onServer(await requirePrimary(client, config.acquireTimeoutMs)),
  });
  const isBehindPgBouncer = isTransactionPooler(config.url);
  const clients = new Set<PoolClient>();
  const busy = new Set<PoolClient>();
  /** The last timeout set on each connection. A new connection starts with the timeout of writes. */
  const statementTimeouts = new WeakMap<PoolClient, number>();
  pool.on("error", onLoss);
  pool.on("connect", (client) => {
    clients.add(client);
    // If the connection breaks during a query, pg emits `error`. Without a listener, the event would end the process.
    client.on("error", () => {});
  });
  pool.on("remove", (client) => clients.delete(client));
  // pg emits `acquire` before it hands out a client, and `release` when the client is given back. `busy` therefore has every
  // client with a query in flight, and `dropIdle` destroys none of them.
  pool.on("acquire", (client) => busy.add(client));
  pool.on("release", (_error, client) => busy.delete(client));

  async function run<Row>(query: BoundQuery): Promise<Row[]> {
    let client: PoolClient | undefined;
    try {
      client = await acquire();
      if (!isBehindPgBouncer) await setTimeLimits(client, query.timeoutMs);
      const rows = await sendQuery<Row>(client, query);
      client.release();
      return rows;
    } catch (error) {
      const problem = asProblem(error);
      if (client !== undefined) {
        // PostgreSQL may still be busy with the query on this connection, so the pool closes the connection.
        client.release(problem.code === "SERVICE_UNAVAILABLE");
        if (error instanceof DatabaseTimeout) onTimeout();
      }
      throw problem;
    }
  }

  async function acquire(): Promise<PoolClient> {
    const startedAtMs = performance.now();
    try {
      return await pool.connect();
    } catch (error) {
      // A timer may fire a millisecond early.
      const isLate = performance.now() - startedAtMs >= config.acquireTimeoutMs - 1;
      if (!isLate || error instanceof DatabaseError) throw error;
      throw new DatabaseTimeout(`no connection within ${config.acquireTimeoutMs} ms`, { cause: error });
    }
  }

  /** Costs a round trip if the limits change. This is rare in a pool of 5 or more: then most reads use the shared connections. */
  async function setTimeLimits(client: PoolClient, timeoutMs: number): Promise<void> {
    if ((statementTimeouts.get(client) ?? config.writeTimeoutMs) === timeoutMs) return;
    await sendQuery(client, {
      name: "set-limit",
      text: setLimits,
      values: [`${timeoutMs}`, `${lockTimeoutMs(timeoutMs)}`],
      timeoutMs,
    });
    statementTimeouts.set(client, timeoutMs);
  }

  function dropIdle(): void {
    for (const client of clients) {
      if (!busy.has(client)) destroySocket(client);
    }
  }

  return {
    run,
    dropIdle,
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async [Symbol.asyncDispose]() {
      const ended = [...clients].map((client) => new Promise((resolve) => client.once("end", resolve)));
      // A silent server never closes the connections, so this process does. A query in flight has its own time limit.
      const timer = setInterval(dropIdle, closeTimeoutMs);
      await Promise.all([pool.end(), ...ended]);
      clearInterval(timer);
    },
  };
}

export const setLimits = "select set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false)";
