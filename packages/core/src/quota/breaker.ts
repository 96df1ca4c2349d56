/**
 * Decides whether the shared quota is asked at all. The first call that fails opens it: from then on nothing is sent but
 * a probe, which no request waits for, until that succeeds. So an outage costs the requests under way one command
 * timeout, once, and the others nothing.
 */
import { ReplyError } from "ioredis";
import type { Log } from "../log.js";

export interface BreakerOptions {
  readonly connection: SharedConnection;
  /** A call like any other, so that a server which answers but takes no writes counts as away. */
  readonly probe: () => Promise<unknown>;
  readonly log: Log;
}

export interface SharedConnection {
  /** Whether a command can be sent at this moment. */
  isReady(): boolean;
  /** Drops the connection, and whatever waits on it, for a new one. */
  reconnect(): void;
}

export interface Breaker extends Disposable {
  /** Whether the shared quota is to be left alone. Looks at the connection, and opens when it is not ready. */
  isOpen(): boolean;
  /** Reports a call that failed. */
  open(error: unknown): void;
  /** How often it has opened. */
  readonly outages: number;
}

const probeIntervalMs = 250;

export function createBreaker({ connection, probe, log }: BreakerOptions): Breaker {
  let isOpen = false;
  let outages = 0;
  let nextProbe: NodeJS.Timeout | undefined;

  function open(error: unknown): void {
    if (isOpen) return;
    isOpen = true;
    outages += 1;
    log.warn({ error }, "Redis is away: this instance decides alone");
    probeLater();
  }

  function probeLater(): void {
    nextProbe = setTimeout(probeNow, probeIntervalMs).unref();
  }

  function probeNow(): void {
    if (!connection.isReady()) {
      probeLater();
      return;
    }
    probe().then(close, (error: unknown) => {
      // The connection may be dead without having been told; an answer, even an error, shows that it is not.
      if (!(error instanceof ReplyError)) connection.reconnect();
      probeLater();
    });
  }

  function close(): void {
    isOpen = false;
    log.info({}, "Redis is back: quotas are shared again");
  }

  return {
    isOpen() {
      if (!isOpen && !connection.isReady()) open(undefined);
      return isOpen;
    },
    open,
    get outages() {
      return outages;
    },
    [Symbol.dispose]: () => clearTimeout(nextProbe),
  };
}
