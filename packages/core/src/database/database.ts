/** Runs a statement on a shared connection for reads, or on a connection of the pool. */
import { traceDatabaseCall } from "../database-calls.js";
import type { Log } from "../log.js";
import { type ConnectionCounts, type DatabaseConfig, isTransactionPooler } from "./connection-config.js";
import { openConnectionPool } from "./connection-pool.js";
import { databaseUnavailable } from "./database-errors.js";
import { openPipelinedReads, retryElsewhere } from "./pipelined-reads.js";
import type { Statement } from "./statement.js";

export interface Database extends AsyncDisposable {
  /** Runs a statement in a transaction of its own. Throws a Problem: SERVICE_UNAVAILABLE if a retry can help. */
  run<Values, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]>;
  connections(): ConnectionCounts;
  /** How often a connection has led to another server than the one before, or to the same one after a restart. */
  serverChanges(): number;
  /** Tells which server a connection leads to. Behind PgBouncer, an open connection can lead to another server than before. */
  noticeServer(startedAt: string): void;
  /** Refuses all statements: a pooler may have moved open connections to a standby. `undefined` allows them again. */
  refuse(cause: Error | undefined): void;
}

export function openDatabase(config: DatabaseConfig, log: Log): Database {
  const isBehindPgBouncer = isTransactionPooler(config.url);
  const shared = isBehindPgBouncer || config.poolSize < smallestPoolToShare ? 0 : sharedConnections;
  let refusal: Error | undefined;
  let server: string | undefined;
  let serverChanges = 0;
  const onLoss = (error: Error) => log.warn({ error }, "database connection lost");
  const events = { onServer: noticeServer, onLoss, onTimeout: dropIdle };
  const reads = openPipelinedReads({ size: shared, config, ...events });
  const pool = openConnectionPool({ size: config.poolSize - shared, config, ...events });

  async function run<Values, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]> {
    if (refusal !== undefined) throw databaseUnavailable(refusal);
    const query = {
      name: isBehindPgBouncer || statement.isUnprepared ? "" : statement.name,
      text: statement.text,
      values: statement.bind(values),
      timeoutMs: statement.access === "write" ? config.writeTimeoutMs : config.readTimeoutMs,
    };
    if (statement.access === "read") {
      const rows = await reads.send<Row>(query);
      if (rows !== retryElsewhere) return rows;
    }
    return pool.run(query);
  }

  function noticeServer(startedAt: string): void {
    if (server !== undefined && server !== startedAt) serverChanges += 1;
    server = startedAt;
  }

  /** After a timeout, closes all idle connections, because a firewall may have dropped these too. */
  function dropIdle(): void {
    reads.dropIdle();
    pool.dropIdle();
  }

  return {
    run: (statement, values) => traceDatabaseCall("postgresql", statement.name, () => run(statement, values)),
    connections() {
      const { open, idle } = reads.connections();
      const inPool = pool.connections();
      return { ...inPool, open: open + inPool.open, idle: idle + inPool.idle };
    },
    serverChanges: () => serverChanges,
    noticeServer,
    refuse(cause) {
      refusal = cause;
    },
    /** Waits for running statements, but not for a silent server. */
    async [Symbol.asyncDispose]() {
      await Promise.all([reads[Symbol.asyncDispose](), pool[Symbol.asyncDispose]()]);
    },
  };
}

const sharedConnections = 2;
const smallestPoolToShare = 5;
