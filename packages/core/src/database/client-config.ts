import { type ClientConfig, TypeOverrides, types } from "pg";
import type { DatabaseConfig } from "./database.js";
import { isTransactionPooler } from "./pooler.js";

/** A firewall that forgets idle connections, or a host that vanished, is noticed this long after the last packet. */
export const keepAlive: Pick<ClientConfig, "keepAlive" | "keepAliveInitialDelayMillis"> = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 30_000,
};

/** A connection whose statements may take that long. */
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

/** Sent when a connection is made. A transaction pooler refuses them: there, the role or the pooler has to set them. */
function sessionLimits(statementTimeoutMs: number) {
  return {
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs(statementTimeoutMs),
    idle_in_transaction_session_timeout: 10_000,
  };
}

/** Shorter than the statement's own limit, so that waiting for another request's row is told apart from a slow query. */
export function lockTimeoutMs(statementTimeoutMs: number): number {
  return Math.ceil(statementTimeoutMs * 0.9);
}

/** int8 as bigint, on our own connections only: other users of pg in the process keep its defaults. */
function exactTypes(): TypeOverrides {
  const overrides = new TypeOverrides();
  overrides.setTypeParser(types.builtins.INT8, BigInt);
  return overrides;
}
