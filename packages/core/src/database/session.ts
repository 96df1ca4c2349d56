import type { Client, ClientConfig } from "pg";
import { createClient, endClient } from "./connection.js";

interface SessionOptions {
  readonly config: ClientConfig;
  /** Prepares a new connection. */
  readonly begin?: (client: Client) => Promise<void>;
  /** The connection is lost. */
  readonly onLoss?: () => void;
  /** Resolves with the reason why the connection cannot be used, or with `undefined`. */
  readonly check: (client: Client) => Promise<unknown>;
  /** Receives the result of each check, or its error. */
  readonly onResult: (obstacle: unknown) => void;
  readonly checkIntervalMs: number;
  /** The time from a failure to the next check. `earlierFailures` counts the failures in a row before this failure. */
  readonly retryDelayMs: (earlierFailures: number) => number;
}

export interface Session extends AsyncDisposable {
  /** Resolves with the result of the first check. Never rejects. */
  readonly first: Promise<unknown>;
}

/**
 * Opens a connection outside the pool, and a new one after a loss. Checks the connection at an interval, because only a
 * query notices that a server has vanished.
 */
export function openSession(options: SessionOptions): Session {
  const { config, begin, onLoss, check, onResult, checkIntervalMs, retryDelayMs } = options;
  let client: Client | undefined;
  let isChecking = false;
  let isDisposed = false;
  let failures = 0;
  let next: NodeJS.Timeout | undefined;

  async function runCheck(): Promise<unknown> {
    isChecking = true;
    const checked = client ?? createClient(config);
    let obstacle: unknown;
    try {
      if (client === undefined) {
        client = checked;
        checked.on("error", () => drop(checked));
        checked.on("end", () => drop(checked));
        await checked.connect();
        await begin?.(checked);
      }
      obstacle = await check(checked);
    } catch (error) {
      obstacle = error;
      drop(checked);
    }
    isChecking = false;
    if (!isDisposed) onResult(obstacle);
    checkAfter(obstacle === undefined ? checkIntervalMs : retryDelayMs(failures));
    failures = obstacle === undefined ? 0 : failures + 1;
    return obstacle;
  }

  function drop(lost: Client): void {
    if (client !== lost) return;
    client = undefined;
    onLoss?.();
    void endClient(lost);
    if (!isChecking) checkAfter(retryDelayMs(0));
  }

  function checkAfter(delayMs: number): void {
    clearTimeout(next);
    if (!isDisposed) next = setTimeout(runCheck, delayMs).unref();
  }

  return {
    first: runCheck(),
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      clearTimeout(next);
      if (client !== undefined) await endClient(client);
    },
  };
}
