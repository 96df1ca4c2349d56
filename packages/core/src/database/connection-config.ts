import { type ClientConfig, TypeOverrides, types } from "pg";

/** `.env.example` describes the settings. */
export interface DatabaseConfig {
  readonly url: string;
  readonly directUrl?: string | undefined;
  readonly poolSize: number;
  readonly acquireTimeoutMs: number;
  readonly readTimeoutMs: number;
  readonly writeTimeoutMs: number;
}

/** Options of the pool, or of the shared connections for reads. */
export interface ConnectionOptions {
  /** The most connections to open. */
  readonly size: number;
  readonly config: DatabaseConfig;
  /** A new connection leads to the server that started at this time. No statement has used the connection yet. */
  readonly onServer: (startedAt: string) => void;
  /** An open connection broke. */
  readonly onLoss: (error: Error) => void;
  readonly onTimeout: () => void;
}

export interface ConnectionCounts {
  readonly open: number;
  readonly idle: number;
  readonly waiting: number;
}

/** TCP keep-alive detects a vanished server, and a connection that a firewall has dropped. */
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
    // PgBouncer in transaction mode refuses these startup parameters. The role or PgBouncer must set them.
    ...(!isTransactionPooler(config.url) && {
      statement_timeout: statementTimeoutMs,
      lock_timeout: lockTimeoutMs(statementTimeoutMs),
      idle_in_transaction_session_timeout: 10_000,
    }),
  };
}

/**
 * True if the URL leads to a PgBouncer in transaction mode. Each transaction may then run in another session. So the service
 * prepares no statements by name, sets no time limits for a session, and does not listen.
 */
export function isTransactionPooler(url: string): boolean {
  return URL.canParse(url) && new URL(url).searchParams.get("pgbouncer") === "true";
}

/** Shorter than the statement timeout, so that a wait for a lock ends with its own error (55P03). */
export function lockTimeoutMs(statementTimeoutMs: number): number {
  return Math.ceil(statementTimeoutMs * 0.9);
}

/** Reads int8 as bigint, and `infinity` as the last possible Date. Other users of pg in this process keep its defaults. */
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
