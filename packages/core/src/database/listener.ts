import { Client } from "pg";
import type { Log } from "../log.js";
import { endClient, keepAlive } from "./connection.js";

export interface ListenerOptions {
  /** Must not lead through a PgBouncer in transaction mode: `listen` needs a session of its own. */
  readonly url: string;
  readonly channel: string;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly onMessage: (payload: string) => void;
  /** Listening began, or began again: earlier messages may be lost. */
  readonly onListening: () => void;
  readonly log: Log;
}

export interface Listener extends AsyncDisposable {
  /** Resolves when it listens, or when its first attempt has failed. */
  readonly attempted: Promise<void>;
}

const connectTimeoutMs = 1_000;
const firstDelayMs = 100;
const longestDelayMs = 1_000;
/** A server that vanished does not close the connection: only a query finds out. */
const heartbeatMs = 2_000;
const heartbeatTimeoutMs = 1_000;

/** Receives the notifications of one channel, on a connection of its own that reconnects by itself. */
export function openListener(options: ListenerOptions): Listener {
  const { log } = options;
  let isDisposed = false;
  let client: Client | undefined;
  let failures = 0;
  let wait: NodeJS.Timeout | undefined;
  let isReported = false;
  let onAttempted: () => void;
  const attempted = new Promise<void>((resolve) => {
    onAttempted = resolve;
  });

  function connect(): void {
    const attempt = new Client({
      connectionString: options.url,
      application_name: options.applicationName,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: heartbeatTimeoutMs,
      ...keepAlive,
    });
    client = attempt;
    let heartbeat: NodeJS.Timeout | undefined;
    let isLost = false;

    function lose(error?: unknown): void {
      if (isLost) return;
      isLost = true;
      onAttempted();
      clearTimeout(heartbeat);
      void endClient(attempt);
      if (isDisposed) return;
      if (!isReported) log.warn({ error }, "not listening for changes: they are seen within 5 s");
      isReported = true;
      const delayMs = Math.min(firstDelayMs * 2 ** failures, longestDelayMs);
      failures += 1;
      wait = setTimeout(connect, delayMs * (0.5 + Math.random() / 2)).unref();
    }

    function scheduleHeartbeat(): void {
      heartbeat = setTimeout(() => void attempt.query("select 1").then(scheduleHeartbeat, lose), heartbeatMs).unref();
    }

    attempt.on("error", lose);
    attempt.on("end", () => lose());
    attempt.on("notification", ({ payload = "" }) => options.onMessage(payload));
    attempt
      .connect()
      .then(() => attempt.query(`listen ${attempt.escapeIdentifier(options.channel)}`))
      .then(() => {
        if (isLost || isDisposed) return;
        if (isReported) log.info({}, "listening for changes again");
        isReported = false;
        failures = 0;
        options.onListening();
        onAttempted();
        scheduleHeartbeat();
      })
      .catch(lose);
  }

  connect();
  return {
    attempted,
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      clearTimeout(wait);
      if (client !== undefined) await endClient(client);
    },
  };
}
