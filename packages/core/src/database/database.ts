import { type TracingChannel, tracingChannel } from "node:diagnostics_channel";
import { DatabaseError, Pool, type PoolClient } from "pg";
import type { Log } from "../log.js";
import {
  type BoundQuery,
  clientConfigOf,
  closeTimeoutMs,
  destroySocket,
  isTransactionPooler,
  lockTimeoutMs,
  readGraceMs,
  sendQuery,
} from "./connection.js";
import { asProblem, DatabaseTimeout } from "./database-errors.js";
import { openPipelinedReads } from "./pipelined-reads.js";
import type { Statement } from "./statement.js";

export interface DatabaseConfig {
  /** Has the parameter `pgbouncer=true` if it leads to a PgBouncer in transaction mode. */
  readonly url: string;
  /** The same database without the PgBouncer, for `listen`, which needs a session of its own. Default: `url`. */
  readonly directUrl?: string | undefined;
  readonly poolSize: number;
  /** How long a request waits for a free connection. */
  readonly acquireTimeoutMs: number;
  /** How long a statement that only reads may run. The server keeps the limit; if it is silent, this process does. */
  readonly readTimeoutMs: number;
  /** The same for a statement that writes. A commit waits for the disk. */
  readonly writeTimeoutMs: number;
}

export interface Database extends AsyncDisposable {
  /** Runs a statement in a transaction of its own. Throws a Problem: SERVICE_UNAVAILABLE if a retry can help. */
  run<Values, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]>;
  connections(): Connections;
}

export interface Connections {
  readonly open: number;
  readonly idle: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
  /** How many requests got no connection in time, since the start. */
  readonly timeouts: number;
}

export function openDatabase(config: DatabaseConfig, log: Log): Database {
  const isPooled = isTransactionPooler(config.url);
  const shared = isPooled || config.poolSize < smallestPoolToShare ? 0 : sharedConnections;
  const report = (error: Error) => log.warn({ error }, "database connection lost");
  const reads = openPipelinedReads({
    count: shared,
    config: clientConfigOf(config, config.readTimeoutMs),
    answerTimeoutMs: config.readTimeoutMs + readGraceMs,
    onLoss: report,
    onTimeout: dropIdle,
  });
  const pool = new Pool({
    ...clientConfigOf(config, config.writeTimeoutMs),
    max: config.poolSize - shared,
    // Idle connections stay open: closing them would set and clear a timer around every query.
    idleTimeoutMillis: 0,
  });
  const clients = new Set<PoolClient>();
  const busy = new Set<PoolClient>();
  /** The statement timeout of a connection, if it differs from the one it was opened with. */
  const limits = new WeakMap<PoolClient, number>();
  let timeouts = 0;
  pool.on("error", report);
  pool.on("connect", (client) => {
    clients.add(client);
    // Without a listener, the error of a connection that breaks during a query would end the process.
    client.on("error", () => {});
  });
  pool.on("remove", (client) => clients.delete(client));

  async function run<Values, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]> {
    const { access = "write", text } = statement;
    const query = {
      name: isPooled ? "" : statement.name,
      text,
      values: statement.bind(values),
      timeoutMs: access === "write" ? config.writeTimeoutMs : config.readTimeoutMs,
    };
    const rows = access === "pipelined read" ? await reads.send<Row>(query) : undefined;
    return rows ?? runAlone(query);
  }

  async function runAlone<Row>(query: BoundQuery): Promise<Row[]> {
    let client: PoolClient | undefined;
    try {
      client = await acquire();
      busy.add(client);
      if (!isPooled) await setLimit(client, query.timeoutMs);
      const rows = await sendQuery<Row>(client, query);
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

  /** Costs a round trip when reads and writes alternate on one connection, as they do in a pool without shared ones. */
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
    reads.dropIdle();
    for (const client of clients) if (!busy.has(client)) destroySocket(client);
  }

  /** Waits for running statements, but not for a server that is silent. */
  async function close(): Promise<void> {
    const ended = [...clients].map((client) => new Promise((resolve) => client.once("end", resolve)));
    const destroyIdle = setTimeout(dropIdle, closeTimeoutMs);
    const destroyAll = setTimeout(
      () => {
        for (const client of clients) destroySocket(client);
      },
      Math.max(config.readTimeoutMs, config.writeTimeoutMs) + readGraceMs + closeTimeoutMs,
    );
    await Promise.all([reads[Symbol.asyncDispose](), pool.end(), ...ended]);
    clearTimeout(destroyIdle);
    clearTimeout(destroyAll);
  }

  return {
    run: (statement, values) => traceCall({ name: statement.name, isStatement: true }, () => run(statement, values)),
    connections() {
      const { open, idle } = reads.connections();
      return { open: open + pool.totalCount, idle: idle + pool.idleCount, waiting: pool.waitingCount, timeouts };
    },
    [Symbol.asyncDispose]: close,
  };
}

/** How many connections of the pool serve pipelined reads. The others run one statement at a time. */
const sharedConnections = 2;
/** A smaller pool shares none. */
const smallestPoolToShare = 5;

/** A step of a request, or a statement that PostgreSQL runs for it. */
export interface TracedCall {
  readonly name: string;
  readonly isStatement?: boolean;
}

/** The service subscribes when traces are configured. Without a subscriber, a call costs one check. */
export const tracedCalls: TracingChannel<unknown, TracedCall> = tracingChannel<unknown, TracedCall>("petstore:call");

/** Publishes the start and the end of a call to the subscriber, if there is one. */
export function traceCall<Result>(call: TracedCall, run: () => Promise<Result>): Promise<Result> {
  return tracedCalls.hasSubscribers ? tracedCalls.tracePromise(run, call) : run();
}
