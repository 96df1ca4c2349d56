import { tracingChannel } from "node:diagnostics_channel";
import { DatabaseError, Pool, type PoolClient } from "pg";
import type { Log } from "../log.js";
import { asProblem, DatabaseTimeout } from "./availability.js";
import { clientConfigOf, lockTimeoutMs } from "./client-config.js";
import { destroySocket, goodbyeMs } from "./end-client.js";
import { openPipelines } from "./pipelines.js";
import { isTransactionPooler } from "./pooler.js";
import { type PreparedQuery, readGraceMs, sendQuery } from "./send-query.js";
import type { Statement } from "./statement.js";

export interface DatabaseConfig {
  /** With `pgbouncer=true` among its parameters where a PgBouncer in transaction mode answers there. */
  readonly url: string;
  /** The same database past the PgBouncer, for listening, which needs a session of its own. Absent: `url`. */
  readonly directUrl?: string | undefined;
  readonly poolSize: number;
  /** How long a request waits for a free connection. */
  readonly acquireTimeoutMs: number;
  /** How long a statement that only reads may run. The server keeps the limit; where it is silent, this process does. */
  readonly readTimeoutMs: number;
  /** The same for a statement that writes. A commit waits for a disk. */
  readonly writeTimeoutMs: number;
}

export interface Database extends AsyncDisposable {
  /** Runs a statement in a transaction of its own. Throws a Problem, SERVICE_UNAVAILABLE where a retry can help. */
  run<Values, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]>;
  connections(): Connections;
}

/** The connections of a database at this moment. */
export interface Connections {
  readonly open: number;
  readonly idle: number;
  /** Requests that wait for one. */
  readonly waiting: number;
  /** How often none came free in time, since the start. */
  readonly timeouts: number;
}

/** What a subscriber of the channel `petstore:query` is told of each statement, under way and ended. */
export interface TracedQuery {
  readonly statement: string;
}

/** Who traces requests listens here; without a listener it costs nothing. */
const queries = tracingChannel<unknown, TracedQuery>("petstore:query");

export function openDatabase(config: DatabaseConfig, log: Log): Database {
  const isPooled = isTransactionPooler(config.url);
  const shared = isPooled || config.poolSize < leastToShare ? 0 : sharedConnections;
  const report = (error: Error) => log.warn({ error }, "database connection lost");
  const pipelines = openPipelines({
    count: shared,
    config: clientConfigOf(config, config.readTimeoutMs),
    answerTimeoutMs: config.readTimeoutMs + readGraceMs,
    onLoss: report,
    onTimeout: dropIdle,
  });
  const pool = new Pool({
    ...clientConfigOf(config, config.writeTimeoutMs),
    max: config.poolSize - shared,
    // An idle connection stays, instead of a timer being set and cleared around every query.
    idleTimeoutMillis: 0,
  });
  const clients = new Set<PoolClient>();
  const busy = new Set<PoolClient>();
  /** The limit of a connection, where it differs from the one it was opened with. */
  const limits = new WeakMap<PoolClient, number>();
  let timeouts = 0;
  pool.on("error", report);
  pool.on("connect", (client) => {
    clients.add(client);
    // A connection that breaks while a query holds it emits its own error, which would otherwise end the process.
    client.on("error", () => {});
  });
  pool.on("remove", (client) => clients.delete(client));

  async function run<Values, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]> {
    const { text, isQuery = false, isReadOnly = isQuery } = statement;
    const prepared = {
      name: isPooled ? "" : statement.name,
      text,
      values: statement.bind(values),
      timeoutMs: isReadOnly ? config.readTimeoutMs : config.writeTimeoutMs,
    };
    const rows = isQuery ? await pipelines.ask<Row>(prepared) : undefined;
    return rows ?? runAlone(prepared);
  }

  async function runAlone<Row>(prepared: PreparedQuery): Promise<Row[]> {
    let client: PoolClient | undefined;
    try {
      client = await acquire();
      busy.add(client);
      if (!isPooled) await setLimit(client, prepared.timeoutMs);
      const rows = await sendQuery<Row>(client, prepared);
      release(client, false);
      return rows;
    } catch (error) {
      const problem = asProblem(error);
      if (client !== undefined) {
        // A connection that failed or timed out may still be busy with the query: it must not serve another one.
        release(client, problem.code === "SERVICE_UNAVAILABLE");
        if (error instanceof DatabaseTimeout) dropIdle();
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
      timeouts += 1;
      throw new DatabaseTimeout(`no connection within ${config.acquireTimeoutMs} ms`, { cause: error });
    }
  }

  function release(client: PoolClient, isBroken: boolean): void {
    busy.delete(client);
    client.release(isBroken);
  }

  /** Costs a round trip when reads and writes alternate on one connection, as in a pool without shared connections. */
  async function setLimit(client: PoolClient, timeoutMs: number): Promise<void> {
    if ((limits.get(client) ?? config.writeTimeoutMs) === timeoutMs) return;
    await sendQuery(client, {
      name: "set-limit",
      text: "select set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false)",
      values: [`${timeoutMs}`, `${lockTimeoutMs(timeoutMs)}`],
      timeoutMs,
    });
    limits.set(client, timeoutMs);
  }

  /** Closes all idle connections after a timeout: a firewall that dropped one has probably dropped the others. */
  function dropIdle(): void {
    pipelines.dropIdle();
    for (const client of clients) if (!busy.has(client)) destroySocket(client);
  }

  /** Waits for running statements, but not for a server that is silent. */
  async function close(): Promise<void> {
    const ended = [...clients].map((client) => new Promise((resolve) => client.once("end", resolve)));
    const destroyIdle = setTimeout(dropIdle, goodbyeMs);
    const destroyAll = setTimeout(
      () => {
        for (const client of clients) destroySocket(client);
      },
      Math.max(config.readTimeoutMs, config.writeTimeoutMs) + readGraceMs + goodbyeMs,
    );
    await Promise.all([pipelines[Symbol.asyncDispose](), pool.end(), ...ended]);
    clearTimeout(destroyIdle);
    clearTimeout(destroyAll);
  }

  return {
    run: (statement, values) =>
      queries.hasSubscribers
        ? queries.tracePromise(() => run(statement, values), { statement: statement.name })
        : run(statement, values),
    connections() {
      const { open, idle } = pipelines.connections();
      return { open: open + pool.totalCount, idle: idle + pool.idleCount, waiting: pool.waitingCount, timeouts };
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Of the pool's size. The rest serves what needs a connection to itself. */
const sharedConnections = 2;
/** A smaller pool shares none. */
const leastToShare = 5;
