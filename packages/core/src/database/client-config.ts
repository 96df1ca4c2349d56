import { type ClientConfig, TypeOverrides, types } from "pg";
import type { DatabaseConfig } from "./database.js";

/** Finds a connection that a firewall has forgotten, or whose server has vanished. */
export const keepAlive: Pick<ClientConfig, "keepAlive" | "keepAliveInitialDelayMillis"> = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 30_000,
};

export function clientConfigOf(config: DatabaseConfig, statementTimeoutMs: number): ClientConfig {
  return {
    connectionString: config.url,
    application_name: "petstore",
    connectionTimeoutMillis: config.acquireTimeoutMs,
    ...keepAlive,
    types: exactTypes(),
    // PgBouncer in transaction mode refuses these startup parameters. The role or PgBouncer has to set them there.
    ...(!isTransactionPooler(config.url) && {
      statement_timeout: statementTimeoutMs,
      lock_timeout: lockTimeoutMs(statementTimeoutMs),
      idle_in_transaction_session_timeout: 10_000,
    }),
  };
}

/**
 * True if the URL leads to a PgBouncer in transaction mode. Two transactions may then run in two sessions, so the service
 * prepares no statement by name, sets no time limit, and does not listen.
 */
export function isTransactionPooler(url: string): boolean {
  return URL.canParse(url) && new URL(url).searchParams.get("pgbouncer") === "true";
}

/** Shorter than the statement timeout, so that the error shows which of the two it was: a lock or a slow query. */
export function lockTimeoutMs(statementTimeoutMs: number): number {
  return Math.ceil(statementTimeoutMs * 0.9);
}

/**
 * Reads int8 as bigint, and a time such as `infinity` as the last or first possible Date. On our connections only: other
 * users of pg in the process keep its defaults.
 */
function exactTypes(): TypeOverrides {
  const overrides = new TypeOverrides();
  const { INT8, TIMESTAMPTZ } = types.builtins;
  const parseTime = types.getTypeParser(TIMESTAMPTZ);
  overrides.setTypeParser(INT8, BigInt);
  overrides.setTypeParser(TIMESTAMPTZ, (text) => {
    const milliseconds = Number(parseTime(text));
    return new Date(Math.max(-lastDateMs, Math.min(milliseconds, lastDateMs)));
  });
  return overrides;
}

const lastDateMs = 8.64e15;
