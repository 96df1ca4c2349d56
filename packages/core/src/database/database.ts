import { Pool, type PoolClient, TypeOverrides, types } from "pg";
import type { Log } from "../log.js";
import { asProblem } from "./availability.js";
import type { Statement } from "./statement.js";

export interface DatabaseConfig {
  readonly url: string;
  readonly poolSize: number;
  /** How long a request waits for a free connection. */
  readonly acquireTimeoutMs: number;
  /** How long one statement may run, enforced by the server and, should it hang, by us a moment later. */
  readonly statementTimeoutMs: number;
}

export interface Database extends AsyncDisposable {
  /** Runs a statement in a transaction of its own. Throws a Problem, SERVICE_UNAVAILABLE where a retry can help. */
  run<Values, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]>;
}

export function openDatabase(config: DatabaseConfig, log: Log): Database {
  const pool = new Pool({
    connectionString: config.url,
    application_name: "petstore",
    max: config.poolSize,
    connectionTimeoutMillis: config.acquireTimeoutMs,
    statement_timeout: config.statementTimeoutMs,
    // Shorter than the statement's own limit, so that waiting for another request's row is told apart from a slow query.
    lock_timeout: Math.ceil(config.statementTimeoutMs * 0.9),
    idle_in_transaction_session_timeout: 10_000,
    query_timeout: config.statementTimeoutMs + 100,
    keepAlive: true,
    types: exactTypes(),
  });
  const report = (error: Error) => log.warn({ error }, "database connection lost");
  pool.on("error", report);
  // A connection that breaks while a query holds it emits its own error, which would otherwise end the process.
  pool.on("connect", (client) => client.on("error", () => {}));

  return {
    async run<Values, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]> {
      let client: PoolClient | undefined;
      try {
        client = await pool.connect();
        const { name, text } = statement;
        const { rows } = await client.query({ name, text, values: statement.bind(values) });
        client.release();
        return rows;
      } catch (error) {
        const problem = asProblem(error);
        // A connection that failed or timed out may still be busy with the query: it must not serve another one.
        client?.release(problem.code === "SERVICE_UNAVAILABLE");
        throw problem;
      }
    },
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

/** int8 as bigint, on our own connections only: other users of pg in the process keep its defaults. */
function exactTypes(): TypeOverrides {
  const overrides = new TypeOverrides();
  overrides.setTypeParser(types.builtins.INT8, BigInt);
  return overrides;
}
