import { keepAlive } from "../database/client-config.js";
import { sendQuery } from "../database/connection.js";
import { openSession } from "../database/session.js";
import type { Log } from "../log.js";

export interface ListenerOptions {
  /** Must not lead through a PgBouncer in transaction mode: `listen` needs a session of its own. */
  readonly url: string;
  readonly channel: string;
  readonly applicationName: string;
  readonly onMessage: (payload: string) => void;
  /** Listening began, or began again: earlier messages may be lost. */
  readonly onListening: () => void;
  readonly log: Log;
}

export interface Listener extends AsyncDisposable {
  /** Resolves when it listens, or when its first attempt has failed. */
  readonly attempted: Promise<unknown>;
}

const timeoutMs = 1_000;
const firstDelayMs = 100;
const longestDelayMs = 1_000;

/** Receives the notifications of one channel, on a connection of its own that reconnects by itself. */
export function openListener(options: ListenerOptions): Listener {
  const { url, channel, applicationName, onMessage, onListening, log } = options;
  let isReported = false;
  const session = openSession({
    config: {
      connectionString: url,
      application_name: applicationName,
      connectionTimeoutMillis: timeoutMs,
      ...keepAlive,
    },
    async begin(client) {
      client.on("notification", ({ payload = "" }) => onMessage(payload));
      await sendQuery(client, { name: "", text: `listen ${client.escapeIdentifier(channel)}`, values: [], timeoutMs });
      onListening();
    },
    check: (client) => sendQuery(client, { name: "", text: "select", values: [], timeoutMs }).then(() => undefined),
    onResult(error) {
      if (error !== undefined && !isReported)
        log.warn({ error }, "not listening for changes: they are seen within 5 s");
      if (error === undefined && isReported) log.info({}, "listening for changes again");
      isReported = error !== undefined;
    },
    checkIntervalMs: 2_000,
    retryDelayMs: (failures) => Math.min(firstDelayMs * 2 ** failures, longestDelayMs) * (0.5 + Math.random() / 2),
  });
  return { attempted: session.first, [Symbol.asyncDispose]: session[Symbol.asyncDispose] };
}
