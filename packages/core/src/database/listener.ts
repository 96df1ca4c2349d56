import { Client } from "pg";
import type { Log } from "../log.js";
import { keepAlive } from "./client-config.js";
import { endClient } from "./end-client.js";

export interface ListenerOptions {
  /** Leads to a session of our own: not through a PgBouncer in transaction mode. */
  readonly url: string;
  readonly channel: string;
  /** What the database calls the connection. */
  readonly applicationName: string;
  readonly onMessage: (payload: string) => void;
  /** Listening begins, or begins again: what was said before may have been missed. */
  readonly onListening: () => void;
  readonly log: Log;
}

/** Hears what is said on one channel, on a connection of its own that comes back by itself. */
export interface Listener extends AsyncDisposable {
  /** Resolves when it listens, or its first attempt has failed. */
  readonly attempted: Promise<void>;
}

const connectTimeoutMs = 1_000;
const firstDelayMs = 100;
const longestDelayMs = 1_000;
/** How often a connection is asked whether it still is one: a peer that vanished never says so. */
const beatMs = 2_000;
const beatTimeoutMs = 1_000;

/** Listens from when it can. */
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
      query_timeout: beatTimeoutMs,
      ...keepAlive,
    });
    client = attempt;
    let beat: NodeJS.Timeout | undefined;
    let isLost = false;

    function lose(error?: unknown): void {
      if (isLost) return;
      isLost = true;
      onAttempted();
      clearTimeout(beat);
      void endClient(attempt);
      if (isDisposed) return;
      if (!isReported) log.warn({ error }, "not listening for changes: they are seen within 5 s");
      isReported = true;
      const delayMs = Math.min(firstDelayMs * 2 ** failures, longestDelayMs);
      failures += 1;
      wait = setTimeout(connect, delayMs * (0.5 + Math.random() / 2)).unref();
    }

    function beatLater(): void {
      beat = setTimeout(() => void attempt.query("select 1").then(beatLater, lose), beatMs).unref();
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
        beatLater();
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
