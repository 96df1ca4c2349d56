import { tracingChannel } from "node:diagnostics_channel";
import { type ClientConfig, Pool, type PoolClient, TypeOverrides, types } from "pg";
import type { Log } from "../log.js";
import { asProblem } from "./availability.js";
import { openPipelines } from "./pipelines.js";
import { isTransactionPooler } from "./pooler.js";
import { type PreparedQuery, sendQuery } from "./send-query.js";
import type { Statement } from "./statement.js";

export interface DatabaseConfig {
  /** With `pgbouncer=true` among its parameters where a PgBouncer in transaction mode answers there. */
  readonly url: string;
  /** The same database past the PgBouncer, for listening, which needs a session of its own. Absent: `url`. */
  readonly directUrl?: string | undefined;
  readonly poolSize: number;
  /** How long a request waits for a free connection. */
  readonly acquireTimeoutMs: number;
  /** How long one statement may run, enforced by the server and, should it hang, by us a moment later. */
  readonly statementTimeoutMs: number;
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
  const clientConfig = {
    connectionString: config.url,
    application_name: "petstore",
    connectionTimeoutMillis: config.acquireTimeoutMs,
    query_timeout: config.statementTimeoutMs + 100,
    keepAlive: true,
    types: exactTypes(),
    ...(isPooled ? {} : sessionLimits(config.statementTimeoutMs)),
  } satisfies ClientConfig;
  const report = (error: Error) => log.warn({ error }, "database connection lost");
  const pipelines = openPipelines(shared, clientConfig, report);
  const pool = new Pool({
    ...clientConfig,
    max: config.poolSize - shared,
    // An idle connection stays, instead of a timer being set and cleared around every query.
    idleTimeoutMillis: 0,
  });
  pool.on("error", report);
  // A connection that breaks while a query holds it emits its own error, which would otherwise end the process.
  pool.on("connect", (client) => client.on("error", () => {}));

  async function run<Values, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]> {
    const { text, isQuery = false } = statement;
    const prepared = { name: isPooled ? "" : statement.name, text, values: statement.bind(values) };
    const rows = isQuery ? await pipelines.ask<Row>(prepared) : undefined;
    return rows ?? runAlone(prepared);
  }

  async function runAlone<Row>(prepared: PreparedQuery): Promise<Row[]> {
    let client: PoolClient | undefined;
    try {
      client = await pool.connect();
      const rows = await sendQuery<Row>(client, prepared);
      client.release();
      return rows;
    } catch (error) {
      const problem = asProblem(error);
      // A connection that failed or timed out may still be busy with the query: it must not serve another one.
      client?.release(problem.code === "SERVICE_UNAVAILABLE");
      throw problem;
    }
  }

  return {
    run: (statement, values) =>
      queries.hasSubscribers
        ? queries.tracePromise(() => run(statement, values), { statement: statement.name })
        : run(statement, values),
    connections() {
      const { open, idle } = pipelines.connections();
      return { open: open + pool.totalCount, idle: idle + pool.idleCount, waiting: pool.waitingCount };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([pipelines[Symbol.asyncDispose](), pool.end()]);
    },
  };
}

/** Of the pool's size. The rest serves what needs a connection to itself. */
const sharedConnections = 2;
/** A smaller pool shares none. */
const leastToShare = 5;

/** Sent when a connection is made. A transaction pooler refuses them: there, the role or the pooler has to set them. */
function sessionLimits(statementTimeoutMs: number) {
  return {
    statement_timeout: statementTimeoutMs,
    // Shorter than the statement's own limit, so that waiting for another request's row is told apart from a slow query.
    lock_timeout: Math.ceil(statementTimeoutMs * 0.9),
    idle_in_transaction_session_timeout: 10_000,
  };
}

/** int8 as bigint, on our own connections only: other users of pg in the process keep its defaults. */
function exactTypes(): TypeOverrides {
  const overrides = new TypeOverrides();
  overrides.setTypeParser(types.builtins.INT8, BigInt);
  return overrides;
}
